// The inner loops of Adam on directions. Compiled once per SIMD level, with TAYLORANK_LEVEL as its namespace.
#include "unit_adam.hpp"

#include "lanes.hpp"

namespace taylorank {
namespace {

inline float dot(const float* a, const float* b, std::int64_t n) {
    Vector<float> sums{};
    std::int64_t k = 0;
    for (; k + lanes<float> <= n; k += lanes<float>) sums += load(a + k) * load(b + k);
    float sum = sum_of<float>(sums);
    for (; k < n; ++k) sum += a[k] * b[k];
    return sum;
}

void step_row(const UnitAdam& p, std::int64_t row) {
    const std::int64_t at = row * p.width;
    float *__restrict w = p.raw + at, *__restrict u = p.unit + at, *__restrict m = p.first + at,
          *__restrict s = p.second + at;
    const float* __restrict g = p.gradient + at;
    const float inverse = 1.0f / __builtin_sqrtf(dot(w, w, p.width)), along = dot(g, u, p.width);
    const float new_first = 1.0f - p.decay_first, new_second = 1.0f - p.decay_second;
    for (std::int64_t k = 0; k < p.width; ++k) {
        const float t = (g[k] - along * u[k]) * inverse;
        m[k] = p.decay_first * m[k] + new_first * t;
        s[k] = p.decay_second * s[k] + new_second * t * t;
        w[k] -= p.rate * m[k] / (__builtin_sqrtf(s[k]) + p.epsilon);
    }
    const float scale = 1.0f / __builtin_sqrtf(dot(w, w, p.width));
    for (std::int64_t k = 0; k < p.width; ++k) u[k] = scale * w[k];
}

}  // namespace

namespace TAYLORANK_LEVEL {

void unit_adam_rows(const UnitAdam& p, std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) step_row(p, row);
}

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
