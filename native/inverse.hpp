// H^-1 of a small positive definite matrix, in double, without BLAS: its threads would spin on beside ours.
#pragma once

#include <cstdint>

namespace taylorank {

struct Inverse {
    double* factor;   // H, (size, size), then its Cholesky factor; size is a whole number of vectors
    double* scale;    // 1 / diagonal of the factor, (size)
    std::int64_t size;
};

struct InverseLevel {
    bool (*prepare)(const Inverse& problem);  // factors H; false if it is not positive definite
    void (*column)(const Inverse& problem, std::int64_t column, double* out);  // out (size) <- H^-1 e_column
};

}  // namespace taylorank
