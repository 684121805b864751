// The inner loops of inverse. Compiled once per SIMD level.
#include "inverse.hpp"

#include "cholesky.hpp"

namespace taylorank {
namespace {

bool prepare(const Inverse& p) {
    double* floors = p.scale;  // a floor is read before the scale of its pivot is written
    for (std::int64_t k = 0; k < p.size; ++k) {
        const double diagonal = p.factor[k * p.size + k];
        floors[k] = diagonal > 0 ? diagonal * smallest_pivot<double> : 0.0;
    }
    return factor(p.factor, p.size, floors, p.scale);
}

void column(const Inverse& p, std::int64_t which, double* out) {
    for (std::int64_t k = 0; k < p.size; ++k) out[k] = k == which ? 1.0 : 0.0;
    solve_lower(p.factor, p.size, p.scale, out);
    solve_upper(p.factor, p.size, p.scale, out);
}

}  // namespace

namespace TAYLORANK_LEVEL {

extern const InverseLevel inverse_level;
const InverseLevel inverse_level{prepare, column};

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
