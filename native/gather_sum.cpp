// The inner loops of gather-sum. This file is compiled once per SIMD level, with TAYLORANK_LEVEL as its namespace.
//
// Everything else here has internal linkage and no standard function is called: a shared inline function
// compiled for AVX-512 could otherwise be the copy that the linker keeps for all levels.
#include "gather_sum.hpp"

namespace taylorank {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, max_vectors = 16;
#elif defined(__AVX__)
constexpr int vector_bytes = 32, max_vectors = 8;
#else
constexpr int vector_bytes = 16, max_vectors = 8;
#endif
constexpr int line_bytes = 64;
constexpr std::int64_t ahead = 8;  // entries to prefetch; 4 to 32 differ little

template <class T, int lanes>
struct VectorOf {
    typedef T type __attribute__((vector_size(lanes * sizeof(T))));
};

// A block of columns held in `vectors` registers. The last one ends at the edge of the row and may overlap the
// one before, which spares a tail loop: the overlap is computed twice, with the same result.
struct Block {
    std::int64_t first;  // column of the first vector
    std::int64_t last;   // column of the last vector
};

template <class T, int lanes, int vectors>
inline void prefetch(const T* row, const Block& block) {
    constexpr int lines = (lanes * vectors * static_cast<int>(sizeof(T)) + line_bytes - 1) / line_bytes;
    const char* start = reinterpret_cast<const char*>(row + block.first);
#pragma GCC unroll 16
    for (int i = 0; i < lines; ++i) __builtin_prefetch(start + i * line_bytes);
}

// out[block] = sum over entries [begin, end) of w Q[index, block]
template <class T, int lanes, int vectors, bool weighted>
inline void sum_entries(const GatherSum<T>& p, const Block& block, std::int64_t begin, std::int64_t end,
                        std::int64_t final_entry, T* out) {
    using Vector = typename VectorOf<T, lanes>::type;
    Vector sums[vectors] = {};
    for (std::int64_t j = begin; j < end; ++j) {
        const std::int64_t later = j + ahead < final_entry ? j + ahead : final_entry;
        prefetch<T, lanes, vectors>(p.factors + p.indices[later] * p.width, block);
        const T* row = p.factors + p.indices[j] * p.width;
#pragma GCC unroll 16
        for (int i = 0; i < vectors; ++i) {
            Vector values;
            __builtin_memcpy(&values, row + (i + 1 < vectors ? block.first + i * lanes : block.last), sizeof values);
            if constexpr (weighted) values *= p.weights[j];
            sums[i] += values;
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < vectors; ++i)
        __builtin_memcpy(out + (i + 1 < vectors ? block.first + i * lanes : block.last), &sums[i], sizeof sums[i]);
}

template <class T, int lanes, int vectors, bool weighted>
void sum_chunk(const GatherSum<T>& p, const Chunk& chunk, const Block& block, T* carry) {
    const std::int64_t* indptr = p.rows.indptr;
    const auto sum_row = [&](std::int64_t begin, std::int64_t row, T* out) {
        const std::int64_t end = indptr[row + 1] < chunk.end ? indptr[row + 1] : chunk.end;
        sum_entries<T, lanes, vectors, weighted>(p, block, begin, end, chunk.end - 1, out);
    };
    if (chunk.carries) sum_row(chunk.begin, chunk.first_row - 1, carry);
    for (std::int64_t x = chunk.first_row; x < chunk.last_row; ++x) sum_row(indptr[x], x, p.out + x * p.width);
}

// Turns the run-time number of vectors of a block into a template argument.
template <class T, int lanes, bool weighted, int vectors>
void sum_block(const GatherSum<T>& p, const Chunk& chunk, const Block& block, int count, T* carry) {
    if constexpr (vectors > 1)
        if (count < vectors) return sum_block<T, lanes, weighted, vectors - 1>(p, chunk, block, count, carry);
    sum_chunk<T, lanes, vectors, weighted>(p, chunk, block, carry);
}

// Cuts the columns into blocks of nearly equal numbers of vectors. `lanes` is the widest power of two within
// the row, so a row narrower than a full vector takes at most two.
template <class T, int lanes, bool weighted>
void sum_columns(const GatherSum<T>& p, const Chunk& chunk, T* carry) {
    constexpr int full = vector_bytes / sizeof(T);
    if constexpr (lanes > 1)
        if (p.width < lanes) return sum_columns<T, lanes / 2, weighted>(p, chunk, carry);
    constexpr int most = lanes == full ? max_vectors : 2;
    const std::int64_t vectors = (p.width + lanes - 1) / lanes, blocks = (vectors + most - 1) / most;
    for (std::int64_t b = 0; b < blocks; ++b) {
        const std::int64_t from = vectors * b / blocks, to = vectors * (b + 1) / blocks;
        const Block block{from * lanes, to < vectors ? (to - 1) * lanes : p.width - lanes};
        sum_block<T, lanes, weighted, most>(p, chunk, block, static_cast<int>(to - from), carry);
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
bool gather_sum_chunk(const GatherSum<T>& p, const Chunk& chunk, T* carry) {
    if (!in_range(p.indices + chunk.begin, chunk.end - chunk.begin, p.n_factors)) return false;
    if (p.width == 0) return true;
    constexpr int lanes = vector_bytes / sizeof(T);
    if (p.weights)
        sum_columns<T, lanes, true>(p, chunk, carry);
    else
        sum_columns<T, lanes, false>(p, chunk, carry);
    return true;
}

template bool gather_sum_chunk<float>(const GatherSum<float>&, const Chunk&, float*);
template bool gather_sum_chunk<double>(const GatherSum<double>&, const Chunk&, double*);

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
