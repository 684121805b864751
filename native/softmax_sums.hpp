// e_ij = exp(scale · a_i·b_j + α_i + β_j): the sums over j of e_ij and of e_ij b_j for each row i, e never being held.
//
// Plain data and no inline functions, because the kernels of every SIMD level include this file.
#pragma once

#include <cstdint>

namespace taylorank {

// Columns are there twice: in panels of a few columns, one coordinate of all of them after the other, for the scores;
// row by row, padded with zeros to whole vectors, for the sums. Columns that fill up the last panel have rows of zeros
// and an offset far below any other.
struct SoftmaxSums {
    const float* rows;  // a, (count, width)
    std::int64_t count;
    const float* row_offsets;  // α, (count)
    std::int64_t width;        // K
    float scale;
    const float* panels;          // b, (panels, width, column_lanes)
    const float* columns;         // b, (n_columns, stride)
    const float* column_offsets;  // β, (n_columns)
    std::int64_t n_columns;       // a multiple of column_lanes
    std::int64_t stride;          // width, rounded up to whole vectors
    float* totals;                // Σ_j e_ij, (count)
    float* sums;                  // Σ_j e_ij b_j, (count, width)
};

struct SoftmaxSumsLevel {
    std::int64_t row_lanes;     // rows that go through the columns together
    std::int64_t column_lanes;  // columns of a panel
    std::int64_t lanes;         // of one vector
    // Floats of scratch memory for up to `rows` rows.
    std::int64_t (*scratch)(std::int64_t rows, std::int64_t width, std::int64_t stride);
    // Rows [first, last). A row has the same bits whatever the others are: its sums go through the columns in order.
    void (*run)(const SoftmaxSums& problem, std::int64_t first, std::int64_t last, float* scratch);
    // The same for one row and the columns [from, to), whole panels: total (1) and sums (width) of these columns.
    std::int64_t (*scratch_of_one)(std::int64_t width);
    void (*run_one)(const SoftmaxSums& problem, std::int64_t row, std::int64_t from, std::int64_t to, float* scratch,
                    float* total, float* sums);
};

}  // namespace taylorank
