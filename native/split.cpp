#include "split.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace taylorank {
namespace {

struct Place {
    std::int64_t row;    // the row that holds the item
    std::int64_t entry;  // entries before the item
    bool opens;          // the item opens its row
};

Place place_of(const Rows& rows, std::int64_t item) {
    std::int64_t low = 0, high = rows.count;
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (rows.indptr[middle] + middle <= item)
            low = middle;
        else
            high = middle - 1;
    }
    const bool opens = rows.indptr[low] + low == item;
    return {low, opens ? rows.indptr[low] : item - low - 1, opens};
}

}  // namespace

void check_rows(const Rows& rows, std::int64_t nnz) {
    if (rows.count < 0) throw std::invalid_argument("indptr is empty");
    if (rows.indptr[0] != 0) throw std::invalid_argument("indptr starts at " + std::to_string(rows.indptr[0]));
    for (std::int64_t x = 0; x < rows.count; ++x)
        if (rows.indptr[x] > rows.indptr[x + 1])
            throw std::invalid_argument("indptr falls after row " + std::to_string(x));
    if (rows.entries() != nnz)
        throw std::invalid_argument("indptr ends at " + std::to_string(rows.entries()) + " but there are " +
                                    std::to_string(nnz) + " indices");
}

std::int64_t default_chunk_items(std::int64_t items, std::int64_t width) {
    // About 50 µs of work, so that starting a thread pays; a narrow row costs as much as 16 columns.
    constexpr std::int64_t work = 1 << 20, narrowest = 16;
    // One carried row per chunk: at most 16 MiB of them, in double precision.
    constexpr std::int64_t carried_values = 1 << 21;
    const std::int64_t chunks = std::max<std::int64_t>(1, carried_values / std::max<std::int64_t>(1, width));
    const std::int64_t enough = work / std::max(width, narrowest);
    return std::max({std::int64_t{1}, enough, (items + chunks - 1) / chunks});
}

Chunk chunk_between(const Rows& rows, std::int64_t first, std::int64_t last) {
    const Place from = place_of(rows, first), to = place_of(rows, last);
    return {from.opens ? from.row : from.row + 1, to.opens ? to.row : to.row + 1, from.entry, to.entry, !from.opens};
}

}  // namespace taylorank
