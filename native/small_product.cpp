// The inner loops of the small product: many short rows times one small matrix. Compiled once per SIMD level.
#include "small_product.hpp"

#include "syrk.hpp"

namespace taylorank {
namespace {

// Up to tile_rows rows from `first` on, columns [column, column + vectors lanes); missing rows repeat the last.
template <class T, int vectors>
void small_product_tile(const SmallProduct<T>& p, std::int64_t first, std::int64_t last, std::int64_t column) {
    const T* rows[tile_rows];
    for (int i = 0; i < tile_rows; ++i) rows[i] = p.rows + (first + i < last ? first + i : last - 1) * p.width;
    Vector<T> sums[tile_rows][vectors] = {};
    for (std::int64_t k = 0; k < p.width; ++k) {
        Vector<T> values[vectors];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) values[v] = load(p.basis + k * p.stride + column + v * lanes<T>);
#pragma GCC unroll 8
        for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) sums[i][v] += values[v] * rows[i][k];
    }
    const std::int64_t wanted = p.out_width - column, most = vectors * lanes<T>;
    for (int i = 0; i < tile_rows && first + i < last; ++i)
        __builtin_memcpy(p.out + (first + i) * p.out_width + column, sums[i],
                         static_cast<std::size_t>(wanted < most ? wanted : most) * sizeof(T));
}

}  // namespace

namespace TAYLORANK_LEVEL {

template <class T>
void small_product_rows(const SmallProduct<T>& p, std::int64_t first, std::int64_t last) {
    for (std::int64_t x = first; x < last; x += tile_rows) {
        std::int64_t column = 0;
        for (; column + 2 * lanes<T> <= p.stride && column < p.out_width; column += 2 * lanes<T>)
            small_product_tile<T, 2>(p, x, last, column);
        if (column < p.out_width) small_product_tile<T, 1>(p, x, last, column);
    }
}

template void small_product_rows<float>(const SmallProduct<float>&, std::int64_t, std::int64_t);
template void small_product_rows<double>(const SmallProduct<double>&, std::int64_t, std::int64_t);

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
