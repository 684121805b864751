// Products with a few gathered rows at a time: scores Q_y . p, and sums of c_y Q_y.
#pragma once

#include "fold.hpp"
#include "panel.hpp"

namespace taylorank {
namespace {

constexpr int group = 8;  // rows at a time: as many independent sums as hide the latency of multiply-add

template <class T>
struct Group {
    const T* rows[group];
    T weights[group];  // 0 beyond the end of the row
    T targets[group];
};

// Entries [begin, begin + 8) of a row that ends at `end`, from column `column` on. Missing entries repeat the
// last one with weight and target 0, which spares a loop for the remainder.
template <class T>
inline void gather_group(const RowSystem<T>& p, std::int64_t begin, std::int64_t end, std::int64_t column,
                         Group<T>& entries) {
#pragma GCC unroll 8
    for (int i = 0; i < group; ++i) {
        const bool present = begin + i < end;
        const std::int64_t j = present ? begin + i : end - 1;
        entries.rows[i] = p.factors + p.indices[j] * p.stride + column;
        entries.weights[i] = present ? value_at(p.weights, j) : T(0);
        entries.targets[i] = present ? value_at(p.targets, j) : T(0);
    }
}

template <class T>
inline void prefetch_group(const RowSystem<T>& p, std::int64_t begin, std::int64_t column, std::int64_t n) {
    const std::int64_t last = p.rows.indptr[p.rows.count] - 1;
    for (int i = 0; i < group; ++i) prefetch_row(p, begin + i < last ? begin + i : last, column, n);
}

// scores[i] = rows[i] . p
template <class T>
inline void score_group(const T* const* rows, const T* p, std::int64_t n, T* scores) {
    Vector<T> sums[group] = {};
    for (std::int64_t k = 0; k < n; k += lanes<T>) {
        const Vector<T> values = load(p + k);
#pragma GCC unroll 8
        for (int i = 0; i < group; ++i) sums[i] += load(rows[i] + k) * values;
    }
    fold<T>(sums, scores);
}

// y += sum of c_i rows[i]
template <class T>
inline void add_group(const T* const* rows, const T* c, std::int64_t n, T* y) {
    for (std::int64_t k = 0; k < n; k += lanes<T>) {
        Vector<T> even = load(y + k), odd{};
#pragma GCC unroll 8
        for (int i = 0; i < group; i += 2) {
            even += load(rows[i] + k) * c[i];
            odd += load(rows[i + 1] + k) * c[i + 1];
        }
        store(y + k, even + odd);
    }
}

// d += sum of w_i rows[i]^2
template <class T>
inline void add_squares_group(const T* const* rows, const T* w, std::int64_t n, T* d) {
    for (std::int64_t k = 0; k < n; k += lanes<T>) {
        Vector<T> sum = load(d + k);
#pragma GCC unroll 8
        for (int i = 0; i < group; ++i) {
            const Vector<T> values = load(rows[i] + k);
            sum += values * values * w[i];
        }
        store(d + k, sum);
    }
}

template <class T>
inline T dot(const T* a, const T* b, std::int64_t n) {
    Vector<T> sum{};
    for (std::int64_t k = 0; k < n; k += lanes<T>) sum += load(a + k) * load(b + k);
    return sum_of<T>(sum);
}

}  // namespace
}  // namespace taylorank
