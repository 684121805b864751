// A few entries of a row at a time: their factors gathered into strips, then added to H and b.
#pragma once

#include "row_solve.hpp"
#include "syrk.hpp"

namespace taylorank {
namespace {

constexpr std::int64_t panel_entries = 64;
constexpr std::int64_t prefetch_ahead = 8;

template <class T>
struct Panel {
    T* plain;   // Q_y, in strips
    T* scaled;  // w_xy Q_y, in strips
    T weights[panel_entries];
    T targets[panel_entries];
};

// One entry more than fits: strips a power of two apart would compete for the same few places of the cache.
template <class T>
constexpr std::int64_t strip_size = (panel_entries + 1) * lanes<T>;

template <class T>
inline std::int64_t panel_size(std::int64_t n) {
    return n / lanes<T> * strip_size<T>;
}

template <class T>
inline T value_at(const Values<T>& values, std::int64_t entry) {
    return values.each ? values.each[entry] : values.same;
}

// Converts where S and T differ; a plain vector copy where not.
template <class S, class T>
inline Vector<T> load_as(const S* from) {
    if constexpr (sizeof(S) == sizeof(T)) {
        return load(from);
    } else {
        Vector<T> values;
        for (int i = 0; i < lanes<T>; ++i) values[i] = from[i];
        return values;
    }
}

template <class S>
inline void prefetch_row(const RowSystem<S>& p, std::int64_t entry, std::int64_t column, std::int64_t n) {
    const char* start = reinterpret_cast<const char*>(p.factors + p.indices[entry] * p.stride + column);
    for (std::int64_t byte = 0; byte < n * static_cast<std::int64_t>(sizeof(S)); byte += 64)
        __builtin_prefetch(start + byte);
}

// Copies columns [column, column + n) of the factors of entries [begin, end).
template <class S, class T>
void gather(const RowSystem<S>& p, std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t n,
            Panel<T>& panel) {
    const bool scale = p.weights.each || p.weights.same != S(1);
    const std::int64_t last = p.rows.indptr[p.rows.count] - 1;
    for (std::int64_t j = begin; j < end; ++j) {
        prefetch_row(p, j + prefetch_ahead < last ? j + prefetch_ahead : last, column, n);
        const S* row = p.factors + p.indices[j] * p.stride + column;
        const T weight = T(value_at(p.weights, j));
        panel.weights[j - begin] = weight;
        panel.targets[j - begin] = T(value_at(p.targets, j));
        T* plain = panel.plain + (j - begin) * lanes<T>;
        T* scaled = panel.scaled + (j - begin) * lanes<T>;
        for (std::int64_t k = 0; k < n; k += lanes<T>, plain += strip_size<T>, scaled += strip_size<T>) {
            const Vector<T> values = load_as<S, T>(row + k);
            store(plain, values);
            if (scale) store(scaled, values * weight);
        }
    }
}

// H += sum of w_xy Q_y Q_y' over the panel, on the upper triangle.
template <class S, class T>
inline void add_squares(const RowSystem<S>& p, const Panel<T>& panel, std::int64_t count, std::int64_t n, T* h) {
    const bool scale = p.weights.each || p.weights.same != S(1);
    const Strips<T> plain{panel.plain, lanes<T>, strip_size<T>};
    const Strips<T> scaled{scale ? panel.scaled : panel.plain, lanes<T>, strip_size<T>};
    update_upper<T, false>(count, plain, scaled, 0, n, n, h, n);
}

// b += sum of c_y Q_y over the panel.
template <class T>
inline void add_rows(const Panel<T>& panel, const T* coefficients, std::int64_t count, std::int64_t n, T* b) {
    for (std::int64_t k = 0; k < n; k += lanes<T>) {
        const T* strip = panel.plain + k / lanes<T> * strip_size<T>;
        Vector<T> even = load(b + k), odd{};
        std::int64_t e = 0;
        for (; e + 1 < count; e += 2) {
            even += load(strip + e * lanes<T>) * coefficients[e];
            odd += load(strip + (e + 1) * lanes<T>) * coefficients[e + 1];
        }
        if (e < count) even += load(strip + e * lanes<T>) * coefficients[e];
        store(b + k, even + odd);
    }
}

// H = a_x G + l_x I on the upper triangle of columns [column, column + n); unit pivots beyond the width.
template <class S, class T>
void set_background(const RowSystem<S>& p, std::int64_t x, std::int64_t column, std::int64_t n, T* h) {
    const T a = T(p.background[x]), ridge = T(p.regularization[x]);
    for (std::int64_t i = 0; i < n; ++i) {
        const S* gram = p.gram + (column + i) * p.stride + column;
        for (std::int64_t j = i / lanes<T> * lanes<T>; j < n; j += lanes<T>)
            store(h + i * n + j, load_as<S, T>(gram + j) * a);
        h[i * n + i] = column + i < p.width ? h[i * n + i] + ridge : T(1);
    }
}

// H -= f m' + m f' + s m m' on the upper triangle of columns [column, column + n).
template <class S, class T>
void add_tilt(const RowSystem<S>& p, std::int64_t x, std::int64_t column, std::int64_t n, T* h) {
    if (!p.tilt_rows) return;
    const S *f = p.tilt_rows + x * p.width + column, *m = p.tilt_mean + column;
    const T s = T(p.tilt_scales[x]);
    const std::int64_t used = n < p.width - column ? n : p.width - column;
    for (std::int64_t i = 0; i < used; ++i) {
        const T left = T(f[i]) + s * T(m[i]), right = T(m[i]);
        const std::int64_t strip = i / lanes<T> * lanes<T>;
        for (std::int64_t j = strip; j < used; ++j) h[i * n + j] -= left * T(m[j]) + right * T(f[j]);
    }
}

}  // namespace
}  // namespace taylorank
