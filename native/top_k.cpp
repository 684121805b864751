// The inner loops of top-k. This file is compiled once per SIMD level, with TAYLORANK_LEVEL as its namespace.
//
// A block of users × two vectors of items stays in registers while the columns go by. As in gather_sum.cpp all
// else has internal linkage, so that no function compiled for one level can serve another.
#include "top_k.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taylorank {
namespace {

// Registers: sums, the two vectors of items, and the broadcast user. 28 + 3 of 32; 12 + 3 of 16; 8 + 4 of 16.
#if defined(__AVX512F__)
constexpr int lanes = 16, user_lanes = 14;
#elif defined(__AVX2__)
constexpr int lanes = 8, user_lanes = 6;
#else
constexpr int lanes = 4, user_lanes = 4;
#endif
constexpr int vectors = 2, item_lanes = vectors * lanes;

typedef float Vector __attribute__((vector_size(lanes * sizeof(float))));

inline Vector load(const float* from) {
    Vector values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
}

// a b + c; rounded once where the level has fused multiply-add, which doubles the speed.
inline Vector multiply_add(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__)
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
}

// Which of the scores are above the threshold or not a number, as bits.
inline std::uint32_t above(const float* scores, float threshold) {
#if defined(__AVX512F__)
    const __m512 limit = _mm512_set1_ps(threshold);
    const std::uint32_t low = _mm512_cmp_ps_mask(_mm512_loadu_ps(scores), limit, _CMP_NLE_UQ);
    const std::uint32_t high = _mm512_cmp_ps_mask(_mm512_loadu_ps(scores + lanes), limit, _CMP_NLE_UQ);
    return low | high << lanes;
#elif defined(__AVX2__)
    const __m256 limit = _mm256_set1_ps(threshold);
    const int low = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(scores), limit, _CMP_NLE_UQ));
    const int high = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(scores + lanes), limit, _CMP_NLE_UQ));
    return static_cast<std::uint32_t>(low | high << lanes);
#elif defined(__x86_64__)
    const __m128 limit = _mm_set1_ps(threshold);
    const int low = _mm_movemask_ps(_mm_cmpnle_ps(_mm_loadu_ps(scores), limit));
    const int high = _mm_movemask_ps(_mm_cmpnle_ps(_mm_loadu_ps(scores + lanes), limit));
    return static_cast<std::uint32_t>(low | high << lanes);
#else
    std::uint32_t bits = 0;
    for (int i = 0; i < item_lanes; ++i) bits |= static_cast<std::uint32_t>(!(scores[i] <= threshold)) << i;
    return bits;
#endif
}

// Appends the scores whose bit is set; writes up to item_lanes values beyond the new end.
inline void append(const float* scores, std::uint32_t bits, std::int32_t first, Candidates& list) {
#if defined(__AVX512F__)
    const __m512i step = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
        const auto mask = static_cast<__mmask16>(bits >> v * lanes);
        const __m512i position = _mm512_add_epi32(step, _mm512_set1_epi32(first + v * lanes));
        // Packed in a register, then stored whole: some processors compress to memory very slowly.
        _mm512_storeu_ps(list.scores + list.count, _mm512_maskz_compress_ps(mask, _mm512_loadu_ps(scores + v * lanes)));
        _mm512_storeu_si512(list.positions + list.count, _mm512_maskz_compress_epi32(mask, position));
        list.count += __builtin_popcount(mask);
    }
#else
    for (; bits; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits);
        list.scores[list.count] = scores[lane];
        list.positions[list.count++] = first + lane;
    }
#endif
}

inline void collect(const float* scores, std::uint32_t bits, std::int32_t first, const Selection& selection,
                    Candidates& list) {
    append(scores, bits, first, list);
    if (__builtin_expect(list.count >= selection.limit, 0)) settle(selection, list);
}

// Hands the scores of a block, (users, item_lanes), to the lists. Whether a row has candidates is as good as random,
// so the rows that have are gathered without a branch first.
inline void collect_block(const float* scores, std::int64_t users, std::uint32_t valid, std::int32_t first,
                          const Selection& selection, Candidates* lists) {
    std::int64_t rows[user_lanes], hits = 0;
    std::uint32_t bits[user_lanes];
    for (std::int64_t r = 0; r < users; ++r) {
        rows[hits] = r;
        bits[hits] = above(scores + r * item_lanes, lists[r].threshold) & valid;
        hits += bits[hits] != 0;
    }
    for (std::int64_t i = 0; i < hits; ++i)
        collect(scores + rows[i] * item_lanes, bits[i], first, selection, lists[rows[i]]);
}

// The scale and offset of each item of a panel.
struct Line {
    Vector scales[vectors], offsets[vectors];
};

inline void load_line(const float* from, std::int64_t count, float fill, Vector* to) {
    if (!from || count >= item_lanes) {
        for (int v = 0; v < vectors; ++v) to[v] = from ? load(from + v * lanes) : fill - Vector{};
        return;
    }
    float values[item_lanes];
    for (std::int64_t i = 0; i < item_lanes; ++i) values[i] = i < count ? from[i] : fill;
    for (int v = 0; v < vectors; ++v) to[v] = load(values + v * lanes);
}

// scores[r, c] = users[r, :] · items[c, :], (rows, item_lanes); with a line: scale · product + offset
template <int rows>
inline void multiply(const float* users, const float* items, std::int64_t width, const Line* line, float* scores) {
    Vector sums[rows][vectors] = {};
    for (std::int64_t k = 0; k < width; ++k) {
        Vector item[vectors];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) item[v] = load(items + k * item_lanes + v * lanes);
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) {
            const Vector user = users[k * user_lanes + r] - Vector{};  // in every lane
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) sums[r][v] = multiply_add(user, item[v], sums[r][v]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) {
            if (line) sums[r][v] = multiply_add(line->scales[v], sums[r][v], line->offsets[v]);
            __builtin_memcpy(scores + r * item_lanes + v * lanes, &sums[r][v], sizeof sums[r][v]);
        }
}

// One user, as a request of a server brings, waits for memory alone; a whole block would do its work many times over.
inline void multiply_users(std::int64_t count, const float* users, const float* items, std::int64_t width,
                           const Line* line, float* scores) {
    if (count == 1) return multiply<1>(users, items, width, line, scores);
    if (count <= 4) return multiply<4>(users, items, width, line, scores);
    multiply<user_lanes>(users, items, width, line, scores);
}

// The bits of the items that exist among those of a panel.
inline std::uint32_t valid_lanes(std::int64_t items) {
    return items >= item_lanes ? 0xffffffffu >> (32 - item_lanes) : (1u << items) - 1;
}

inline std::uint32_t allowed_lanes(const Tile& tile, std::int64_t first) {
    std::uint32_t bits = valid_lanes(tile.n_items - first);
    if (!tile.allowed) return bits;
    const std::int64_t left = tile.n_items - first, count = left < item_lanes ? left : item_lanes;
    for (std::int64_t i = 0; i < count; ++i)
        bits &= ~(static_cast<std::uint32_t>(tile.allowed[first + i] == 0) << i);
    return bits;
}

void score(const Tile& tile, const Selection& selection) {
    static_assert(2 * item_lanes <= slack);
    alignas(64) float scores[user_lanes * item_lanes];
    const bool scaled = tile.scales || tile.offsets;
    Line line;
    for (std::int64_t first = 0; first < tile.n_items; first += item_lanes) {
        const std::uint32_t valid = allowed_lanes(tile, first);
        if (!valid) continue;
        if (scaled) {
            load_line(tile.scales ? tile.scales + first : nullptr, tile.n_items - first, 1.0f, line.scales);
            load_line(tile.offsets ? tile.offsets + first : nullptr, tile.n_items - first, 0.0f, line.offsets);
        }
        const float* items = tile.items + first * tile.width;
        for (std::int64_t user = 0; user < tile.n_users; user += user_lanes) {
            const std::int64_t left = tile.n_users - user, users = left < user_lanes ? left : user_lanes;
            multiply_users(users, tile.users + user * tile.width, items, tile.width, scaled ? &line : nullptr, scores);
            collect_block(scores, users, valid, static_cast<std::int32_t>(first), selection, tile.lists + user);
        }
    }
}

void scan(const float* scores, std::int64_t n_items, const Selection& selection, Candidates& list) {
    std::int64_t first = 0;
    for (; first + item_lanes <= n_items; first += item_lanes)
        if (const std::uint32_t bits = above(scores + first, list.threshold))
            collect(scores + first, bits, static_cast<std::int32_t>(first), selection, list);
    if (first == n_items) return;
    float rest[item_lanes] = {};
    for (std::int64_t i = first; i < n_items; ++i) rest[i - first] = scores[i];
    const std::uint32_t bits = above(rest, list.threshold) & valid_lanes(n_items - first);
    if (bits) collect(rest, bits, static_cast<std::int32_t>(first), selection, list);
}

}  // namespace

namespace TAYLORANK_LEVEL {

extern const TopKLevel top_k_level;
const TopKLevel top_k_level{user_lanes, item_lanes, score, scan};

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
