// The sums of eight vectors at once. Vectors are added in pairs, each sum keeping half of either's parts, until one
// vector holds a part of all: a third of the shuffles that eight separate sums would take.
#pragma once

#include <utility>

#include "lanes.hpp"

namespace taylorank {
namespace {

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define TAYLORANK_SHUFFLES
#endif
#endif

#ifdef TAYLORANK_SHUFFLES
// Of `a` and `b`, which hold runs of 2 `part` parts each: the first (or second) half of every run.
template <class T, int part, bool second, int... i>
inline Vector<T> halves(Vector<T> a, Vector<T> b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, (i / part * 2 * part + i % part + (second ? part : 0))...);
}

template <class T, int count, int part>
inline void fold_runs(const Vector<T>* sums, T* out) {
    if constexpr (part == 0) {
        for (int i = 0; i < count; ++i) store(out + i * lanes<T>, sums[i]);
    } else if constexpr (count == 1) {
        // Fewer sums than lanes: runs of 2 `part` parts are left.
        for (int i = 0; i < lanes<T> / (2 * part); ++i) {
            T sum = 0;
            for (int j = 0; j < 2 * part; ++j) sum += sums[0][2 * part * i + j];
            out[i] = sum;
        }
    } else {
        using Lanes = std::make_integer_sequence<int, lanes<T>>;
        Vector<T> next[count / 2];
#pragma GCC unroll 4
        for (int i = 0; i < count / 2; ++i)
            next[i] = halves<T, part, false>(sums[2 * i], sums[2 * i + 1], Lanes{}) +
                      halves<T, part, true>(sums[2 * i], sums[2 * i + 1], Lanes{});
        fold_runs<T, count / 2, part / 2>(next, out);
    }
}

// out[i] = sum of the lanes of sums[i], i < 8
template <class T>
inline void fold(const Vector<T>* sums, T* out) {
    fold_runs<T, 8, lanes<T> / 2>(sums, out);
}
#else
template <class T>
inline void fold(const Vector<T>* sums, T* out) {
    for (int i = 0; i < 8; ++i) out[i] = sum_of<T>(sums[i]);
}
#endif

}  // namespace
}  // namespace taylorank
