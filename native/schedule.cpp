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

// What was asked for, or suits the problem; never so much more than all items that sums with it overflow.
std::int64_t whole_chunk(std::int64_t asked, std::int64_t items, std::int64_t width) {
    return asked > 0 ? std::min(asked, std::max<std::int64_t>(1, items)) : default_chunk_items(items, width);
}

// Rows of Q in a band, or 0 where bands do not pay: Q is only a few times the cache of a core, rows have too few entries
// in a band, or one row is so long that it must be cut. Depends on the problem alone, never on the number of threads.
template <class T>
std::int64_t default_band_rows(const GatherSum<T>& problem) {
    constexpr std::int64_t band_bytes = 1 << 20, fewest_bands = 8, fewest_entries = 4;
    const std::int64_t row_bytes = std::max<std::int64_t>(1, problem.width * static_cast<std::int64_t>(sizeof(T)));
    const std::int64_t band_rows = std::max<std::int64_t>(1, band_bytes / row_bytes);
    const std::int64_t bands = (problem.n_factors + band_rows - 1) / band_rows, entries = problem.rows.entries();
    if (bands < fewest_bands || entries < fewest_entries * bands * problem.rows.count) return 0;
    for (std::int64_t x = 0; x < problem.rows.count; ++x)
        if (problem.rows.indptr[x + 1] - problem.rows.indptr[x] > entries / 64) return 0;
    return band_rows;
}

// Each thread takes some large ranges of rows and goes through the bands by itself: small ranges would fetch every
// band again.
template <class T>
void gather_sum_in_bands(const GatherSum<T>& problem, GatherSumBands<T> kernel, std::int64_t band_rows, int threads) {
    const std::int64_t items = problem.rows.items(), parts = std::min<std::int64_t>(std::int64_t{4} * threads, problem.rows.count);
    std::atomic<bool> in_range{true};
    parallel_for(parts, threads, [&](std::int64_t c) {
        const Chunk chunk = chunk_between(problem.rows, items * c / parts, items * (c + 1) / parts);
        if (chunk.first_row == chunk.last_row) return;
        std::vector<std::int64_t> places(2 * (chunk.last_row - chunk.first_row));
        if (!kernel(problem, chunk.first_row, chunk.last_row, band_rows, places.data())) in_range = false;
    });
    if (!in_range) throw_bad_index(problem.indices, problem.n_factors);
}

}  // namespace

template <class T>
void gather_sum(const GatherSum<T>& problem, const GatherSumLevel<T>& kernel, std::int64_t chunk_items,
                std::int64_t band_rows, int threads) {
    if (band_rows == 0 && chunk_items <= 0) band_rows = default_band_rows(problem);
    band_rows = std::min(band_rows, std::max<std::int64_t>(1, problem.n_factors));
    if (band_rows > 0) return gather_sum_in_bands(problem, kernel.bands, band_rows, threads);
    const std::int64_t items = problem.rows.items(), width = problem.width;
    chunk_items = whole_chunk(chunk_items, items, width);
    const std::int64_t chunks = (items + chunk_items - 1) / chunk_items;

    std::vector<T> carries(chunks * width);        // (chunks, width)
    std::vector<std::int64_t> owners(chunks, -1);  // the row that each carry belongs to
    std::atomic<bool> in_range{true};
    parallel_for(chunks, threads, [&](std::int64_t c) {
        const Chunk chunk = chunk_between(problem.rows, c * chunk_items, std::min((c + 1) * chunk_items, items));
        if (chunk.carries) owners[c] = chunk.first_row - 1;
        if (!kernel.chunk(problem, chunk, carries.data() + c * width)) in_range = false;
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
    chunk_items = whole_chunk(chunk_items, items, problem.width);
    std::atomic<bool> in_range{true};
    parallel_for((items + chunk_items - 1) / chunk_items, threads, [&](std::int64_t c) {
        const Chunk chunk = chunk_between(problem.rows, c * chunk_items, std::min((c + 1) * chunk_items, items));
        if (!kernel(problem, chunk)) in_range = false;
    });
    if (!in_range) throw_bad_index(problem.indices, problem.n_items);
}

template void gather_sum<float>(const GatherSum<float>&, const GatherSumLevel<float>&, std::int64_t, std::int64_t, int);
template void gather_sum<double>(const GatherSum<double>&, const GatherSumLevel<double>&, std::int64_t, std::int64_t,
                                 int);
template void nonzero_scores<float>(const NonzeroScores<float>&, NonzeroScoresChunk<float>, std::int64_t, int);
template void nonzero_scores<double>(const NonzeroScores<double>&, NonzeroScoresChunk<double>, std::int64_t, int);

}  // namespace taylorank
