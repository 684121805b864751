// The inner loops of nonzero-scores. This file is compiled once per SIMD level, as gather_sum.cpp is.
//
// Column c is added to sum c mod (strip), the sums are then added in halves: first half plus second half, and so
// on. The strip is the same at every level, and so are the bits.
#include "nonzero_scores.hpp"

namespace taylorank {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
constexpr int strip_bytes = 128, strip_vectors = strip_bytes / vector_bytes;
constexpr int line_bytes = 64;
constexpr std::int64_t ahead = 8;  // entries to prefetch

template <class T, int lanes>
struct VectorOf {
    typedef T type __attribute__((vector_size(lanes * sizeof(T))));
};

template <class T>
constexpr int lanes_of = vector_bytes / sizeof(T);

template <class T>
using VectorAt = typename VectorOf<T, lanes_of<T>>::type;

template <class T>
inline VectorAt<T> load(const T* from, std::int64_t count) {
    VectorAt<T> values = {};
    if (count == lanes_of<T>)
        __builtin_memcpy(&values, from, sizeof values);
    else
        for (std::int64_t i = 0; i < count; ++i) values[i] = from[i];
    return values;
}

template <class T, int lanes>
inline T sum_of(const typename VectorOf<T, lanes>::type& values) {
    if constexpr (lanes == 2) {
        return values[0] + values[1];
    } else {
        typename VectorOf<T, lanes / 2>::type halves[2];
        __builtin_memcpy(halves, &values, sizeof values);
        return sum_of<T, lanes / 2>(halves[0] + halves[1]);
    }
}

template <class T>
inline T dot(const T* a, const T* b, std::int64_t width) {
    constexpr int lanes = lanes_of<T>, strip = strip_bytes / sizeof(T);
    VectorAt<T> sums[strip_vectors] = {};
    std::int64_t c = 0;
    for (; c + strip <= width; c += strip)
#pragma GCC unroll 8
        for (int v = 0; v < strip_vectors; ++v)
            sums[v] += load(a + c + v * lanes, lanes) * load(b + c + v * lanes, lanes);
    if (c < width) {
#pragma GCC unroll 8
        for (int v = 0; v < strip_vectors; ++v) {
            const std::int64_t left = width - c - v * lanes;
            if (left > 0) {
                const std::int64_t count = left < lanes ? left : lanes;
                sums[v] += load(a + c + v * lanes, count) * load(b + c + v * lanes, count);
            }
        }
    }
#pragma GCC unroll 8
    for (int half = strip_vectors / 2; half > 0; half /= 2)
        for (int v = 0; v < half; ++v) sums[v] += sums[v + half];
    return sum_of<T, lanes>(sums[0]);
}

template <class T>
inline void score_entries(const NonzeroScores<T>& p, std::int64_t row, std::int64_t begin, std::int64_t end,
                          std::int64_t final_entry) {
    const std::int64_t bytes = p.width * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t j = begin; j < end; ++j) {
        const std::int64_t later = j + ahead < final_entry ? j + ahead : final_entry;
        const char* next = reinterpret_cast<const char*>(p.items + p.indices[later] * p.width);
        for (std::int64_t at = 0; at < bytes; at += line_bytes) __builtin_prefetch(next + at);
        p.out[j] = dot(p.users + row * p.width, p.items + p.indices[j] * p.width, p.width);
    }
}

bool in_range(const std::int32_t* indices, std::int64_t count, std::int64_t limit) {
    std::uint32_t largest = 0;  // a negative index is a huge unsigned one
    for (std::int64_t j = 0; j < count; ++j) {
        const auto index = static_cast<std::uint32_t>(indices[j]);
        largest = index > largest ? index : largest;
    }
    return count == 0 || static_cast<std::int64_t>(largest) < limit;
}

}  // namespace

namespace TAYLORANK_LEVEL {

template <class T>
bool nonzero_scores_chunk(const NonzeroScores<T>& p, const Chunk& chunk) {
    if (!in_range(p.indices + chunk.begin, chunk.end - chunk.begin, p.n_items)) return false;
    const std::int64_t* indptr = p.rows.indptr;
    const auto score_row = [&](std::int64_t begin, std::int64_t row) {
        const std::int64_t end = indptr[row + 1] < chunk.end ? indptr[row + 1] : chunk.end;
        score_entries(p, row, begin, end, chunk.end - 1);
    };
    if (chunk.carries) score_row(chunk.begin, chunk.first_row - 1);
    for (std::int64_t x = chunk.first_row; x < chunk.last_row; ++x) score_row(indptr[x], x);
    return true;
}

template bool nonzero_scores_chunk<float>(const NonzeroScores<float>&, const Chunk&);
template bool nonzero_scores_chunk<double>(const NonzeroScores<double>&, const Chunk&);

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
