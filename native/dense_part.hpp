// Products with all of H_x but its entries: a G + l I - f m' - m f' - s m m'.
#pragma once

#include "gathered.hpp"

namespace taylorank {
namespace {

// A row of (rows, width) with zeros up to n; all zeros where there is no array.
template <class T>
inline void copy_padded(const T* rows, std::int64_t x, std::int64_t width, std::int64_t n, T* to) {
    for (std::int64_t k = 0; k < n; ++k) to[k] = rows && k < width ? rows[x * width + k] : T(0);
}

// y += c G p, where p is zero outside [first, last).
template <class T>
inline void add_gram(const RowSystem<T>& system, T c, const T* p, std::int64_t first, std::int64_t last, T* y) {
    const std::int64_t n = system.stride;
    if (system.diagonal) {
        for (std::int64_t k = first; k < last; ++k) y[k] += c * system.gram[k * n + k] * p[k];
        return;
    }
    for (std::int64_t k = first; k < last; k += group) {
        const T* rows[group];
        T coefficients[group];
        for (int i = 0; i < group; ++i) {
            rows[i] = system.gram + (k + i) * n;  // G is symmetric: rows are columns
            coefficients[i] = c * p[k + i];
        }
        add_group(rows, coefficients, n, y);
    }
}

// y += (a G + l I - f m' - m f' - s m m') p, where p is zero outside [first, last).
template <class T>
inline void add_dense_part(const RowSystem<T>& s, std::int64_t x, const T* f, const T* p, std::int64_t first,
                           std::int64_t last, T* y) {
    const T ridge = s.regularization[x];
    for (std::int64_t k = first; k < last; ++k) y[k] += ridge * p[k];
    add_gram(s, s.background[x], p, first, last, y);
    if (!s.tilt_rows) return;
    const T* m = s.tilt_mean;
    const T along_m = dot(m + first, p + first, last - first);
    const T along_f = dot(f + first, p + first, last - first) + s.tilt_scales[x] * along_m;
    for (std::int64_t k = 0; k < s.stride; ++k) y[k] -= f[k] * along_m + m[k] * along_f;
}

}  // namespace
}  // namespace taylorank
