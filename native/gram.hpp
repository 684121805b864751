// X'X of a tall block, summed in double whatever the type of X. On our own threads: those of BLAS spin on for tens of
// milliseconds after each call and take the cores from the gather-sums before and after it.
#pragma once

#include <cstdint>

namespace taylorank {

template <class T>
struct Gram {
    const T* rows;  // X, (count, width)
    std::int64_t count;
    std::int64_t width;   // K
    std::int64_t padded;  // K rounded up to whole vectors of every level
};

// Adds the upper triangle of the Gram matrix of rows [first, last) to `total` (padded, padded). `scratch` holds
// gram_scratch(problem) values.
template <class T>
using GramRows = void (*)(const Gram<T>& problem, std::int64_t first, std::int64_t last, double* total, T* scratch);

constexpr std::int64_t gram_depth = 256;  // rows summed in T before they join the total

template <class T>
std::int64_t gram_scratch(const Gram<T>& problem) {
    return problem.padded * (problem.padded + gram_depth + 1);
}

}  // namespace taylorank
