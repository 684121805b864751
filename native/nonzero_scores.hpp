// out[j] = P[row of entry j, :] · Q[indices[j], :] for the entries of compressed sparse rows.
#pragma once

#include <cstdint>

#include "split.hpp"

namespace taylorank {

template <class T>
struct NonzeroScores {
    Rows rows;
    const std::int32_t* indices;  // (nnz)
    const T* users;               // P, (rows.count, width)
    const T* items;               // Q, (n_items, width)
    std::int64_t n_items;
    std::int64_t width;  // K
    T* out;              // (nnz)
};

// Scores the entries of `chunk`. Touches nothing and returns false if an index is outside [0, n_items).
template <class T>
using NonzeroScoresChunk = bool (*)(const NonzeroScores<T>& problem, const Chunk& chunk);

template <class T>
void nonzero_scores(const NonzeroScores<T>& problem, NonzeroScoresChunk<T> kernel, std::int64_t chunk_items,
                    int threads);

}  // namespace taylorank
