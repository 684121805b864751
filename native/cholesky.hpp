// H = U'U and the two triangular solves, in place on the upper triangle of a row-major matrix whose size n is a
// multiple of the vector length.
#pragma once

#include "syrk.hpp"

namespace taylorank {
namespace {

inline float root(float value) { return __builtin_sqrtf(value); }
inline double root(double value) { return __builtin_sqrt(value); }

// A pivot this small, relative to its diagonal entry, is rounding error.
template <class T>
constexpr T smallest_pivot = sizeof(T) == 4 ? T(64 * 1.2e-7) : T(4096 * 2.2e-16);

// Factors the diagonal block; `inverse` receives 1 / U[k, k]. False if a pivot is not above its floor.
template <class T>
bool factor_diagonal(T* h, std::int64_t row, const T* floors, T* inverse) {
    constexpr int size = lanes<T>;
    Vector<T> rows[size];
#pragma GCC unroll 16
    for (int k = 0; k < size; ++k) rows[k] = load(h + k * row);
    bool good = true;
#pragma GCC unroll 16
    for (int k = 0; k < size; ++k) {
        const T pivot = rows[k][k];
        good = good && pivot > floors[k];
        const T scale = T(1) / root(pivot);
        inverse[k] = scale;
        rows[k] *= scale;
#pragma GCC unroll 16
        for (int i = k + 1; i < size; ++i) rows[i] -= rows[k] * rows[k][i];
    }
#pragma GCC unroll 16
    for (int k = 0; k < size; ++k) store(h + k * row, rows[k]);
    return good;
}

// Rows of the block to the right of its diagonal: one column strip, X <- U'^-1 X.
template <class T>
inline void solve_strip(const T* u, const T* inverse, T* strip, std::int64_t row) {
    constexpr int size = lanes<T>;
    Vector<T> x[size];
#pragma GCC unroll 16
    for (int k = 0; k < size; ++k) x[k] = load(strip + k * row);
#pragma GCC unroll 16
    for (int k = 0; k < size; ++k) {
        x[k] *= inverse[k];
#pragma GCC unroll 16
        for (int i = k + 1; i < size; ++i) x[i] -= x[k] * u[k * row + i];
    }
#pragma GCC unroll 16
    for (int k = 0; k < size; ++k) store(strip + k * row, x[k]);
}

// Right-looking in two levels: `outer` rows are finished, then taken off the rest in one deep update, so that
// the rest of a matrix larger than the cache is read n / outer times, not n / lanes times.
template <class T>
bool factor(T* h, std::int64_t n, const T* floors, T* inverse) {
    constexpr std::int64_t outer = 128, size = lanes<T>;
    for (std::int64_t top = 0; top < n; top += outer) {
        const std::int64_t bottom = top + outer < n ? top + outer : n;
        for (std::int64_t k = top; k < bottom; k += size) {
            T* block = h + k * n + k;
            if (!factor_diagonal(block, n, floors + k, inverse + k)) return false;
            for (std::int64_t j = size; j < n - k; j += size) solve_strip(block, inverse + k, block + j, n);
            const Strips<T> done{h + k * n, n, size};
            update_upper<T, true>(size, done, done, k + size, bottom, n, h, n);
        }
        const Strips<T> done{h + top * n, n, size};
        update_upper<T, true>(bottom - top, done, done, bottom, n, n, h, n);
    }
    return true;
}

// x <- U'^-1 x
template <class T>
void solve_lower(const T* u, std::int64_t n, const T* inverse, T* x) {
    constexpr int size = lanes<T>;
    for (std::int64_t k = 0; k < n; k += size) {
        T y[size];
        Vector<T> rest = load(x + k);
#pragma GCC unroll 16
        for (int i = 0; i < size; ++i) {
            y[i] = rest[i] * inverse[k + i];
            rest -= load(u + (k + i) * n + k) * y[i];
        }
        __builtin_memcpy(x + k, y, sizeof y);
        for (std::int64_t j = k + size; j < n; j += size) {
            Vector<T> even = load(x + j), odd{};
#pragma GCC unroll 16
            for (int i = 0; i < size; i += 2) {
                even -= load(u + (k + i) * n + j) * y[i];
                odd -= load(u + (k + i + 1) * n + j) * y[i + 1];
            }
            store(x + j, even + odd);
        }
    }
}

// x <- U^-1 x
template <class T>
void solve_upper(const T* u, std::int64_t n, const T* inverse, T* x) {
    constexpr int size = lanes<T>;
    for (std::int64_t k = n - size; k >= 0; k -= size) {
        Vector<T> sums[size] = {};
        for (std::int64_t j = k + size; j < n; j += size) {
            const Vector<T> known = load(x + j);
#pragma GCC unroll 16
            for (int i = 0; i < size; ++i) sums[i] += load(u + (k + i) * n + j) * known;
        }
        T rest[size];
#pragma GCC unroll 16
        for (int i = 0; i < size; ++i) rest[i] = x[k + i] - sum_of<T>(sums[i]);
        // By columns of the block: a chain of one multiply-add per unknown, where dot products would each wait.
#pragma GCC unroll 16
        for (int i = size - 1; i >= 0; --i) {
            rest[i] *= inverse[k + i];
#pragma GCC unroll 16
            for (int j = 0; j < i; ++j) rest[j] -= u[(k + j) * n + k + i] * rest[i];
        }
        __builtin_memcpy(x + k, rest, sizeof rest);
    }
}

// x <- H^-1 x; H is destroyed. `floors` and `inverse` hold n values each. False if H is not positive definite.
template <class T>
bool solve_positive(T* h, std::int64_t n, T* floors, T* inverse, T* x) {
    for (std::int64_t k = 0; k < n; ++k) {
        const T diagonal = h[k * n + k];
        floors[k] = diagonal > 0 ? diagonal * smallest_pivot<T> : T(0);
    }
    if (!factor(h, n, floors, inverse)) return false;
    solve_lower(h, n, inverse, x);
    solve_upper(h, n, inverse, x);
    return true;
}

}  // namespace
}  // namespace taylorank
