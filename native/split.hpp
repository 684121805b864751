// Splits compressed sparse rows into chunks of equal work, whatever the lengths of the rows.
//
// Work is a line of items: for each row one item that opens it, then one per entry. Opening counts because an
// empty row must still be written. Row x opens at item indptr[x] + x, which strictly increases, so a binary
// search finds the row of any item, and a chunk is simply a range of items.
#pragma once

#include <cstdint>

namespace taylorank {

struct Rows {
    const std::int64_t* indptr;  // (count + 1)
    std::int64_t count;

    std::int64_t entries() const { return indptr[count]; }
    std::int64_t items() const { return indptr[count] + count; }
};

struct Chunk {
    std::int64_t first_row, last_row;  // rows that open here: [first_row, last_row)
    std::int64_t begin, end;           // entries that lie here: [begin, end)
    bool carries;                      // the first entries belong to row first_row - 1, opened before
};

// Throws std::invalid_argument unless indptr rises from 0 to nnz.
void check_rows(const Rows& rows, std::int64_t nnz);

// Depends on the problem alone, never on the number of threads: equal chunks mean equal bits.
std::int64_t default_chunk_items(std::int64_t items, std::int64_t width);

// The chunk that holds items [first, last).
Chunk chunk_between(const Rows& rows, std::int64_t first, std::int64_t last);

}  // namespace taylorank
