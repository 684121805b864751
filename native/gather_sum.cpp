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

// out[block] = sum over entries [begin, end) of w Q[index, block], added to what `out` holds if it `continues`
template <class T, int lanes, int vectors, bool weighted>
inline void sum_entries(const GatherSum<T>& p, const Block& block, std::int64_t begin, std::int64_t end,
                        std::int64_t final_entry, bool continues, T* out) {
    using Vector = typename VectorOf<T, lanes>::type;
    Vector sums[vectors] = {};
    if (continues) {
#pragma GCC unroll 16
        for (int i = 0; i < vectors; ++i)
            __builtin_memcpy(&sums[i], out + (i + 1 < vectors ? block.first + i * lanes : block.last), sizeof sums[i]);
    }
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

// A chunk, and where the sum of the row that started before it goes.
template <class T>
struct Piece {
    const Chunk& chunk;
    T* carry;
};

template <class T, int lanes, int vectors, bool weighted>
void sum_part(const GatherSum<T>& p, const Piece<T>& piece, const Block& block) {
    const std::int64_t* indptr = p.rows.indptr;
    const Chunk& chunk = piece.chunk;
    const auto sum_row = [&](std::int64_t begin, std::int64_t row, T* out) {
        const std::int64_t end = indptr[row + 1] < chunk.end ? indptr[row + 1] : chunk.end;
        sum_entries<T, lanes, vectors, weighted>(p, block, begin, end, chunk.end - 1, false, out);
    };
    if (chunk.carries) sum_row(chunk.begin, chunk.first_row - 1, piece.carry);
    for (std::int64_t x = chunk.first_row; x < chunk.last_row; ++x) sum_row(indptr[x], x, p.out + x * p.width);
}

// Those entries [begins[x], ends[x]) of some rows that gather from one band of Q; the first band writes every row.
struct Band {
    std::int64_t first_row, last_row;
    const std::int64_t *begins, *ends;
    bool first;
};

template <class T, int lanes, int vectors, bool weighted>
void sum_part(const GatherSum<T>& p, const Band& band, const Block& block) {
    for (std::int64_t x = band.first_row; x < band.last_row; ++x) {
        const std::int64_t begin = band.begins[x - band.first_row], end = band.ends[x - band.first_row];
        if (begin == end && !band.first) continue;
        sum_entries<T, lanes, vectors, weighted>(p, block, begin, end, end - 1, begin > p.rows.indptr[x],
                                                 p.out + x * p.width);
    }
}

// Turns the run-time number of vectors of a block into a template argument.
template <class T, int lanes, bool weighted, int vectors, class Part>
void sum_block(const GatherSum<T>& p, const Part& part, const Block& block, int count) {
    if constexpr (vectors > 1)
        if (count < vectors) return sum_block<T, lanes, weighted, vectors - 1>(p, part, block, count);
    sum_part<T, lanes, vectors, weighted>(p, part, block);
}

// Cuts the columns into blocks of nearly equal numbers of vectors. `lanes` is the widest power of two within
// the row, so a row narrower than a full vector takes at most two.
template <class T, int lanes, bool weighted, class Part>
void sum_columns(const GatherSum<T>& p, const Part& part) {
    constexpr int full = vector_bytes / sizeof(T);
    if constexpr (lanes > 1)
        if (p.width < lanes) return sum_columns<T, lanes / 2, weighted>(p, part);
    constexpr int most = lanes == full ? max_vectors : 2;
    const std::int64_t vectors = (p.width + lanes - 1) / lanes, blocks = (vectors + most - 1) / most;
    for (std::int64_t b = 0; b < blocks; ++b) {
        const std::int64_t from = vectors * b / blocks, to = vectors * (b + 1) / blocks;
        const Block block{from * lanes, to < vectors ? (to - 1) * lanes : p.width - lanes};
        sum_block<T, lanes, weighted, most>(p, part, block, static_cast<int>(to - from));
    }
}

template <class T, class Part>
void sum(const GatherSum<T>& p, const Part& part) {
    constexpr int lanes = vector_bytes / sizeof(T);
    if (p.width == 0) return;
    if (p.weights)
        sum_columns<T, lanes, true>(p, part);
    else
        sum_columns<T, lanes, false>(p, part);
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
    sum(p, Piece<T>{chunk, carry});
    return true;
}

template <class T>
bool gather_sum_bands(const GatherSum<T>& p, std::int64_t first_row, std::int64_t last_row, std::int64_t band_rows,
                      std::int64_t* places) {
    const std::int64_t count = last_row - first_row, *starts = p.rows.indptr + first_row;
    if (!in_range(p.indices + starts[0], starts[count] - starts[0], p.n_factors)) return false;
    std::int64_t *begins = places, *ends = places + count;
    for (std::int64_t i = 0; i < count; ++i) ends[i] = starts[i];
    for (std::int64_t low = 0; low < p.n_factors || low == 0; low += band_rows) {
        const std::int64_t limit = low + band_rows;
        for (std::int64_t i = 0; i < count; ++i) {
            std::int64_t j = begins[i] = ends[i];
            while (j < starts[i + 1] && p.indices[j] < limit) ++j;
            ends[i] = j;
        }
        sum(p, Band{first_row, last_row, begins, ends, low == 0});
    }
    return true;
}

template bool gather_sum_chunk<float>(const GatherSum<float>&, const Chunk&, float*);
template bool gather_sum_chunk<double>(const GatherSum<double>&, const Chunk&, double*);
template bool gather_sum_bands<float>(const GatherSum<float>&, std::int64_t, std::int64_t, std::int64_t,
                                      std::int64_t*);
template bool gather_sum_bands<double>(const GatherSum<double>&, std::int64_t, std::int64_t, std::int64_t,
                                       std::int64_t*);

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
