// For every row x solve H_x P_x = b_x, with
//     H_x = a_x G + sum over y in row x of w_xy Q_y Q_y' + l_x I  [ - f_x m' - m f_x' - s_x m m' ]
//     b_x = sum over y in row x of t_xy Q_y + h_x g.
#pragma once

#include <cstddef>
#include <cstdint>

#include "split.hpp"

namespace taylorank {

// One value per entry, or the same for all.
template <class T>
struct Values {
    const T* each;  // null: all entries have `same`
    T same;
};

template <class T>
struct RowSystem {
    Rows rows;
    const std::int32_t* indices;  // (nnz)
    Values<T> weights;            // w
    Values<T> targets;            // t
    const T* factors;             // Q, (n_columns, stride), zero from column `width` on
    std::int64_t n_columns;
    std::int64_t width;       // K
    std::int64_t stride;      // K rounded up to a multiple of padded_to
    const T* gram;            // G, (stride, stride), zero from row and column `width` on
    bool diagonal;            // nothing off the diagonal of G
    const T* background;      // a, (rows)
    const T* regularization;  // l, (rows)
    const T* offsets;         // h, (rows), or null: all 0
    const T* direction;       // g, (stride); null with h
    const T* tilt_rows;       // F, (rows, width), or null: no tilt
    const T* tilt_mean;       // m, (stride)
    const T* tilt_scales;     // s, (rows)
    const T* start;           // (rows, width), or null: start from 0
    std::int64_t steps;       // of conjugate gradients
    std::int64_t block;       // coordinates solved together, a multiple of padded_to
    T* out;                   // (rows, width)
};

// Every SIMD level finds whole vectors in a padded row.
constexpr std::int64_t padded_to = 16;

// How one row is solved. `solve` returns false, with the row of `out` undefined, if it meets a matrix that is not
// positive definite in its precision. `scratch` is aligned to a cache line and serves one thread.
template <class T>
struct RowMethod {
    std::size_t (*scratch_bytes)(const RowSystem<T>& system, std::int64_t longest_row);
    bool (*solve)(const RowSystem<T>& system, std::int64_t row, void* scratch);
    // Multiply-adds that a row of this many entries takes.
    double (*work)(const RowSystem<T>& system, std::int64_t entries);
};

template <class T>
struct RowMethods {
    RowMethod<T> cholesky;
    RowMethod<T> gradients;
    RowMethod<T> blocks;
    RowMethod<T> careful;  // Cholesky in double precision, for the rows where another method fails
};

// Returns the first row that even `careful` cannot solve, or -1. Throws std::invalid_argument on a bad index.
template <class T>
std::int64_t row_solve(const RowSystem<T>& system, const RowMethod<T>& method, const RowMethod<T>& careful,
                       int threads);

}  // namespace taylorank
