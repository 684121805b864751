// The symmetric update H += A'B (or H -= A'B) on the upper triangle of H, in register tiles.
#pragma once

#include "lanes.hpp"

namespace taylorank {
namespace {

// Columns cut into strips of one vector: value (e, j) is at data[e entry + (j / lanes) strip + j % lanes].
template <class T>
struct Strips {
    const T* data;
    std::int64_t entry;
    std::int64_t strip;
};

// Sums of a tile fill half the registers; two vectors per row of the tile halve the broadcasts.
#if defined(__AVX512F__)
constexpr int tile_rows = 8;
#else
constexpr int tile_rows = 4;
#endif

// Values that one strip-aligned run of `tile_rows` rows reads from A lie side by side.
template <class T>
constexpr int run_rows = lanes<T> < tile_rows ? lanes<T> : tile_rows;

// C[i, j] += sum over e < depth of A[e, i] B[e, j], for run_rows rows and `vectors` vectors of columns.
template <class T, int vectors, bool subtract>
inline void update_tile(std::int64_t depth, const T* a, std::int64_t a_entry, const Strips<T>& b, T* c,
                        std::int64_t c_row) {
    constexpr int rows = run_rows<T>;
    Vector<T> sums[rows][vectors];
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sums[i][v] = load(c + i * c_row + v * lanes<T>);
    const T* column = b.data;
    for (std::int64_t e = 0; e < depth; ++e, a += a_entry, column += b.entry) {
        Vector<T> values[vectors];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) values[v] = load(column + v * b.strip);
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) {
                if constexpr (subtract)
                    sums[i][v] -= values[v] * a[i];
                else
                    sums[i][v] += values[v] * a[i];
            }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) store(c + i * c_row + v * lanes<T>, sums[i][v]);
}

template <class T>
inline const T* at_strip(const Strips<T>& strips, std::int64_t column) {
    return strips.data + column / lanes<T> * strips.strip + column % lanes<T>;
}

// Rows [first, last) of the columns [column, column + vectors lanes) of H.
template <class T, int vectors, bool subtract>
inline void update_strip(std::int64_t depth, const Strips<T>& a, const Strips<T>& b, std::int64_t first,
                         std::int64_t last, std::int64_t column, T* h, std::int64_t h_row) {
    const Strips<T> right{at_strip(b, column), b.entry, b.strip};
    for (std::int64_t i = first; i < last; i += run_rows<T>)
        update_tile<T, vectors, subtract>(depth, at_strip(a, i), a.entry, right, h + i * h_row + column, h_row);
}

// H[i, j] += sum over e of A[e, i] B[e, j] for rows [first, last) and columns from the strip of i to `end`.
// Column strips outside, rows inside: two strips of B stay in the first-level cache.
template <class T, bool subtract>
inline void update_upper(std::int64_t depth, const Strips<T>& a, const Strips<T>& b, std::int64_t first,
                         std::int64_t last, std::int64_t end, T* h, std::int64_t h_row) {
    constexpr int strip = lanes<T>;
    for (std::int64_t j = first; j < end; j += 2 * strip) {
        const std::int64_t middle = j + strip < last ? j + strip : last;
        if (j + strip == end) {
            update_strip<T, 1, subtract>(depth, a, b, first, middle, j, h, h_row);
            return;
        }
        update_strip<T, 2, subtract>(depth, a, b, first, middle, j, h, h_row);
        const std::int64_t bottom = j + 2 * strip < last ? j + 2 * strip : last;
        update_strip<T, 1, subtract>(depth, a, b, middle, bottom, j + strip, h, h_row);
    }
}

}  // namespace
}  // namespace taylorank
