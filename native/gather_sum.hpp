// out[x, :] = sum over y in row x of w_xy Q[y, :], over compressed sparse rows.
#pragma once

#include <cstdint>

#include "split.hpp"

namespace taylorank {

template <class T>
struct GatherSum {
    Rows rows;
    const std::int32_t* indices;  // (nnz)
    const T* weights;             // (nnz), or null: all 1
    const T* factors;             // Q, (n_factors, width)
    std::int64_t n_factors;
    std::int64_t width;  // K
    T* out;              // (rows.count, width)
};

// Sums the rows that start in `chunk` into `out`, and what the chunk holds of the row that started before it
// into `carry` (width). Touches nothing and returns false if an index of the chunk is outside [0, n_factors).
template <class T>
using GatherSumChunk = bool (*)(const GatherSum<T>& problem, const Chunk& chunk, T* carry);

// Sums whole rows [first_row, last_row) of `out`, one band of `band_rows` rows of Q after the other, so that what is
// gathered from stays in the cache of a core. Every sum is made in the order of its entries, whatever the bands;
// indices that do not rise within a row only cost time. `places` holds two values per row. Touches nothing and returns
// false if an index is outside.
template <class T>
using GatherSumBands = bool (*)(const GatherSum<T>& problem, std::int64_t first_row, std::int64_t last_row,
                                std::int64_t band_rows, std::int64_t* places);

template <class T>
struct GatherSumLevel {
    GatherSumChunk<T> chunk;
    GatherSumBands<T> bands;
};

// 0 for `chunk_items` or `band_rows`: by the shape of the problem; a negative `band_rows`: no bands.
template <class T>
void gather_sum(const GatherSum<T>& problem, const GatherSumLevel<T>& kernel, std::int64_t chunk_items,
                std::int64_t band_rows, int threads);

}  // namespace taylorank
