// The inner loops of gram. Compiled once per SIMD level.
#include "gram.hpp"

#include "syrk.hpp"

namespace taylorank {
namespace {

// Copies rows into strips of one vector, zeros behind the last column. In place, strips of a row a power of two wide
// would compete for the same few sets of the cache. One entry more than fits keeps the copies from doing the same.
template <class T>
Strips<T> strips_of(const Gram<T>& p, std::int64_t first, std::int64_t depth, T* copy) {
    constexpr std::int64_t size = lanes<T>, strip = (gram_depth + 1) * size;
    for (std::int64_t e = 0; e < depth; ++e) {
        const T* row = p.rows + (first + e) * p.width;
        for (std::int64_t j = 0; j < p.padded; j += size) {
            T* to = copy + j / size * strip + e * size;
            if (j + size <= p.width)
                store(to, load(row + j));
            else
                for (std::int64_t i = 0; i < size; ++i) to[i] = j + i < p.width ? row[j + i] : T(0);
        }
    }
    return {copy, size, strip};
}

}  // namespace

namespace TAYLORANK_LEVEL {

template <class T>
void gram_rows(const Gram<T>& p, std::int64_t first, std::int64_t last, double* total, T* scratch) {
    const std::int64_t n = p.padded;
    T *sums = scratch, *copy = scratch + n * n;
    for (std::int64_t start = first; start < last; start += gram_depth) {
        const std::int64_t depth = start + gram_depth < last ? gram_depth : last - start;
        const Strips<T> strips = strips_of(p, start, depth, copy);
        for (std::int64_t i = 0; i < n * n; ++i) sums[i] = T(0);
        update_upper<T, false>(depth, strips, strips, 0, n, n, sums, n);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i / lanes<T> * lanes<T>; j < n; ++j) total[i * n + j] += sums[i * n + j];
    }
}

template void gram_rows<float>(const Gram<float>&, std::int64_t, std::int64_t, double*, float*);
template void gram_rows<double>(const Gram<double>&, std::int64_t, std::int64_t, double*, double*);

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
