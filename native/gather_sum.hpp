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

template <class T>
void gather_sum(const GatherSum<T>& problem, GatherSumChunk<T> kernel, std::int64_t chunk_items, int threads);

}  // namespace taylorank
