// Runs the chunk kernel over all chunks and adds up the rows that straddle them, always in the same order.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "gather_sum.hpp"
#include "nonzero_scores.hpp"
#include "parallel.hpp"

namespace taylorank {
namespace {

[[noreturn]] void throw_bad_index(const std::int32_t* indices, std::int64_t n_factors) {
    std::int64_t j = 0;
    while (indices[j] >= 0 && indices[j] < n_factors) ++j;
    throw std::invalid_argument("index " + std::to_string(indices[j]) + " at position " + std::to_string(j) +
                                " is outside the " + std::to_string(n_factors) + " rows of factors");
}

}  // namespace

template <class T>
void gather_sum(const GatherSum<T>& problem, GatherSumChunk<T> kernel, std::int64_t chunk_items, int threads) {
    const std::int64_t items = problem.rows.items(), width = problem.width;
    if (chunk_items <= 0) chunk_items = default_chunk_items(items, width);
    const std::int64_t chunks = (items + chunk_items - 1) / chunk_items;

    std::vector<T> carries(chunks * width);        // (chunks, width)
    std::vector<std::int64_t> owners(chunks, -1);  // the row that each carry belongs to
    std::atomic<bool> in_range{true};
    parallel_for(chunks, threads, [&](std::int64_t c) {
        const Chunk chunk = chunk_between(problem.rows, c * chunk_items, std::min((c + 1) * chunk_items, items));
        if (chunk.carries) owners[c] = chunk.first_row - 1;
        if (!kernel(problem, chunk, carries.data() + c * width)) in_range = false;
    });
    if (!in_range) throw_bad_index(problem.indices, problem.n_factors);

    for (std::int64_t c = 0; c < chunks; ++c) {
        if (owners[c] < 0) continue;
        T* row = problem.out + owners[c] * width;
        for (std::int64_t k = 0; k < width; ++k) row[k] += carries[c * width + k];
    }
}

template <class T>
void nonzero_scores(const NonzeroScores<T>& problem, NonzeroScoresChunk<T> kernel, std::int64_t chunk_items,
                    int threads) {
    const std::int64_t items = problem.rows.items();
    if (chunk_items <= 0) chunk_items = default_chunk_items(items, problem.width);
    std::atomic<bool> in_range{true};
    parallel_for((items + chunk_items - 1) / chunk_items, threads, [&](std::int64_t c) {
        const Chunk chunk = chunk_between(problem.rows, c * chunk_items, std::min((c + 1) * chunk_items, items));
        if (!kernel(problem, chunk)) in_range = false;
    });
    if (!in_range) throw_bad_index(problem.indices, problem.n_items);
}

template void gather_sum<float>(const GatherSum<float>&, GatherSumChunk<float>, std::int64_t, int);
template void gather_sum<double>(const GatherSum<double>&, GatherSumChunk<double>, std::int64_t, int);
template void nonzero_scores<float>(const NonzeroScores<float>&, NonzeroScoresChunk<float>, std::int64_t, int);
template void nonzero_scores<double>(const NonzeroScores<double>&, NonzeroScoresChunk<double>, std::int64_t, int);

}  // namespace taylorank
