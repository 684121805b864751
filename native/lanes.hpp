// Full-width vectors of the SIMD level that a file is compiled for. Internal linkage, like all that is compiled
// per level: a shared inline function could be the AVX-512 copy on a CPU without it.
#pragma once

#include <cstdint>

namespace taylorank {
namespace {

#if defined(__AVX512F__)
constexpr int full_bytes = 64;
#elif defined(__AVX__)
constexpr int full_bytes = 32;
#else
constexpr int full_bytes = 16;
#endif

template <class T>
constexpr int lanes = full_bytes / static_cast<int>(sizeof(T));

template <class T>
struct Full {
    typedef T type __attribute__((vector_size(full_bytes)));
};
template <class T>
using Vector = typename Full<T>::type;

template <class T>
inline Vector<T> load(const T* from) {
    Vector<T> values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
}

template <class T>
inline void store(T* to, Vector<T> values) {
    __builtin_memcpy(to, &values, sizeof values);
}

template <class T>
inline T sum_of(Vector<T> values) {
    // Halves are added while they are whole registers; subscripts of one register the compiler does well.
    if constexpr (full_bytes == 64) {
        typedef T Half __attribute__((vector_size(32)));
        Half low, high;
        __builtin_memcpy(&low, &values, 32);
        __builtin_memcpy(&high, reinterpret_cast<const char*>(&values) + 32, 32);
        low += high;
        constexpr int count = 32 / static_cast<int>(sizeof(T));
        T parts[count / 2];
        for (int i = 0; i < count / 2; ++i) parts[i] = low[i] + low[i + count / 2];
        T sum = 0;
        for (int i = 0; i < count / 2; ++i) sum += parts[i];
        return sum;
    } else {
        T sum = 0;
        for (int i = 0; i < lanes<T>; ++i) sum += values[i];
        return sum;
    }
}

template <class T>
inline std::int64_t padded(std::int64_t width) {
    return (width + lanes<T> - 1) / lanes<T> * lanes<T>;
}

// Hands out pieces of scratch memory, each on a cache line.
struct Arena {
    char* next;

    template <class T>
    T* take(std::int64_t count) {
        T* piece = reinterpret_cast<T*>(next);
        next += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
        return piece;
    }
};

}  // namespace
}  // namespace taylorank
