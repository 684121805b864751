// out[x, :] = rows[x, :] B: many short rows times one small matrix, without BLAS, whose own threads would compete.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taylorank {

template <class T>
struct SmallProduct {
    const T* rows;  // (count, width)
    std::int64_t count;
    std::int64_t width;
    const T* basis;  // B, (at least width, stride), whole vectors
    std::int64_t stride;
    T* out;  // (count, out_width)
    std::int64_t out_width;
};

// Rows [first, last).
template <class T>
using SmallProductRows = void (*)(const SmallProduct<T>& problem, std::int64_t first, std::int64_t last);

}  // namespace taylorank
