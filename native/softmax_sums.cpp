// The inner loops of the softmax sums. Compiled once per SIMD level, with TAYLORANK_LEVEL as its namespace.
//
// Two products with an exponential between them, for a strip of rows and a block of columns at a time: the scores of
// the strip stay in the first-level cache, the block of columns in the second.
#include "softmax_sums.hpp"

#include "lanes.hpp"

namespace taylorank {
namespace {

// Registers: sums, two vectors of columns and a broadcast number. 28 + 3 of 32; 12 + 3 of 16; 8 + 4 of 16.
#if defined(__AVX512F__)
constexpr int row_lanes = 14;
#elif defined(__AVX2__)
constexpr int row_lanes = 6;
#else
constexpr int row_lanes = 4;
#endif
constexpr int wide = lanes<float>, column_lanes = 2 * wide;
constexpr std::int64_t block = 256;                // columns between two visits to the sums of a row
constexpr std::int64_t tile_stride = block + wide;  // rows a power of two apart would compete for the cache

typedef Vector<float> Floats;
typedef std::uint32_t Ints __attribute__((vector_size(full_bytes)));

inline Floats all(float value) { return value - Floats{}; }

// e^x within 4e-7 of it for −86 ≤ x ≤ 88, 0 below and e^88 above: x = n log 2 + r with |r| ≤ ½ log 2, then
// 1 + r + r²(c₂ + c₃r + c₄r² + c₅r³), whose coefficients make the largest relative error on that interval least.
inline Floats exponential(Floats given) {
    const Floats low = given < all(-86.0f) ? all(-86.0f) : given;
    const Floats x = low > all(88.0f) ? all(88.0f) : low;
    constexpr float shift = 12582912.0f;  // 1.5 · 2²³: adding it leaves n in the lowest bits
    const Floats shifted = x * 1.44269504f + shift, n = shifted - shift;
    const Floats r = (x - n * 0.693145752f) - n * 1.42860682e-6f;  // log 2 in two parts, the first with few bits
    Floats p = r * 0.00831252491f + 0.0418901132f;
    p = p * r + 0.166671145f;
    p = p * r + 0.499992318f;
    p = p * r * r + (r + 1.0f);
    Ints exponent, bits;
    __builtin_memcpy(&exponent, &shifted, sizeof exponent);
    __builtin_memcpy(&bits, &p, sizeof bits);
    bits += exponent << 23;
    Floats power;
    __builtin_memcpy(&power, &bits, sizeof power);
    const Floats limited = given < all(-86.0f) ? Floats{} : power;
    return given != given ? given : limited;  // the bits of one that is no number would make any number
}

// tile[r, c] = a_r · b_c + β_c for one strip of rows, (width, row_lanes), and one panel of columns.
inline void score_panel(const float* rows, const float* panel, const float* offsets, std::int64_t width, float* tile) {
    Floats sums[row_lanes][2];
#pragma GCC unroll 16
    for (int r = 0; r < row_lanes; ++r)
        for (int v = 0; v < 2; ++v) sums[r][v] = load(offsets + v * wide);
    for (std::int64_t k = 0; k < width; ++k) {
        const Floats left = load(panel + k * column_lanes), right = load(panel + k * column_lanes + wide);
#pragma GCC unroll 16
        for (int r = 0; r < row_lanes; ++r) {
            const Floats a = all(rows[k * row_lanes + r]);
            sums[r][0] += a * left;
            sums[r][1] += a * right;
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < row_lanes; ++r)
        for (int v = 0; v < 2; ++v) store(tile + r * tile_stride + v * wide, sums[r][v]);
}

// e of a strip over a block of columns in place of its scores; adds them up.
inline void exponentiate(float* tile, const float* row_offsets, std::int64_t columns, Floats* totals) {
    for (int r = 0; r < row_lanes; ++r) {
        float* row = tile + r * tile_stride;
        const Floats offset = all(row_offsets[r]);
        Floats total = totals[r];
        for (std::int64_t c = 0; c < columns; c += wide) {
            const Floats e = exponential(load(row + c) + offset);
            store(row + c, e);
            total += e;
        }
        totals[r] = total;
    }
}

// sums[r, :] += Σ_c e_rc b_c over a block, for `vectors` vectors of coordinates.
template <int vectors>
inline void add_columns(const float* tile, const float* columns, std::int64_t count, std::int64_t stride, float* sums) {
    Floats held[row_lanes][vectors];
#pragma GCC unroll 16
    for (int r = 0; r < row_lanes; ++r)
        for (int v = 0; v < vectors; ++v) held[r][v] = load(sums + r * stride + v * wide);
    for (std::int64_t c = 0; c < count; ++c) {
        Floats b[vectors];
        for (int v = 0; v < vectors; ++v) b[v] = load(columns + c * stride + v * wide);
#pragma GCC unroll 16
        for (int r = 0; r < row_lanes; ++r) {
            const Floats e = all(tile[r * tile_stride + c]);
            for (int v = 0; v < vectors; ++v) held[r][v] += e * b[v];
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < row_lanes; ++r)
        for (int v = 0; v < vectors; ++v) store(sums + r * stride + v * wide, held[r][v]);
}

// What is kept of a strip while the columns go by.
struct Strip {
    float* rows;     // scale · a, (width, row_lanes)
    float* offsets;  // α, (row_lanes)
    float* totals;   // (row_lanes) vectors
    float* sums;     // (row_lanes, stride)
};

inline std::int64_t strip_size(std::int64_t width, std::int64_t stride) {
    return row_lanes * (width + 1 + wide + stride) + 4 * 16;
}

inline Strip strip_at(float* scratch, std::int64_t index, std::int64_t width, std::int64_t stride) {
    Arena arena{reinterpret_cast<char*>(scratch + index * ((strip_size(width, stride) + 15) / 16 * 16))};
    float* rows = arena.take<float>(width * row_lanes);
    float* offsets = arena.take<float>(row_lanes);
    float* totals = arena.take<float>(row_lanes * wide);
    return {rows, offsets, totals, arena.take<float>(row_lanes * stride)};
}

void open_strip(const SoftmaxSums& p, std::int64_t first, std::int64_t last, const Strip& strip) {
    for (std::int64_t r = 0; r < row_lanes; ++r) {
        const bool is_there = first + r < last;
        const float* row = p.rows + (is_there ? first + r : 0) * p.width;
        for (std::int64_t k = 0; k < p.width; ++k) strip.rows[k * row_lanes + r] = is_there ? p.scale * row[k] : 0.0f;
        strip.offsets[r] = is_there ? p.row_offsets[first + r] : 0.0f;
    }
    for (std::int64_t i = 0; i < row_lanes * wide; ++i) strip.totals[i] = 0.0f;
    for (std::int64_t i = 0; i < row_lanes * p.stride; ++i) strip.sums[i] = 0.0f;
}

void add_block(const SoftmaxSums& p, std::int64_t from, std::int64_t to, const Strip& strip, float* tile) {
    for (std::int64_t c = from; c < to; c += column_lanes)
        score_panel(strip.rows, p.panels + c * p.width, p.column_offsets + c, p.width, tile + (c - from));
    Floats totals[row_lanes];
    for (int r = 0; r < row_lanes; ++r) totals[r] = load(strip.totals + r * wide);
    exponentiate(tile, strip.offsets, to - from, totals);
    for (int r = 0; r < row_lanes; ++r) store(strip.totals + r * wide, totals[r]);
    const float* columns = p.columns + from * p.stride;
    std::int64_t k = 0;
    for (; k + 2 * wide <= p.stride; k += 2 * wide)
        add_columns<2>(tile, columns + k, to - from, p.stride, strip.sums + k);
    if (k < p.stride) add_columns<1>(tile, columns + k, to - from, p.stride, strip.sums + k);
}

void close_strip(const SoftmaxSums& p, std::int64_t first, std::int64_t last, const Strip& strip) {
    for (std::int64_t r = 0; r < row_lanes && first + r < last; ++r) {
        p.totals[first + r] = sum_of<float>(load(strip.totals + r * wide));
        float* sums = p.sums + (first + r) * p.width;
        for (std::int64_t k = 0; k < p.width; ++k) sums[k] = strip.sums[r * p.stride + k];
    }
}

std::int64_t scratch(std::int64_t rows, std::int64_t width, std::int64_t stride) {
    const std::int64_t strips = (rows + row_lanes - 1) / row_lanes;
    return strips * ((strip_size(width, stride) + 15) / 16 * 16) + row_lanes * tile_stride;
}

void run(const SoftmaxSums& p, std::int64_t first, std::int64_t last, float* memory) {
    const std::int64_t strips = (last - first + row_lanes - 1) / row_lanes;
    float* tile = memory + strips * ((strip_size(p.width, p.stride) + 15) / 16 * 16);
    for (std::int64_t s = 0; s < strips; ++s)
        open_strip(p, first + s * row_lanes, last, strip_at(memory, s, p.width, p.stride));
    for (std::int64_t from = 0; from < p.n_columns; from += block) {
        const std::int64_t to = from + block < p.n_columns ? from + block : p.n_columns;
        for (std::int64_t s = 0; s < strips; ++s) add_block(p, from, to, strip_at(memory, s, p.width, p.stride), tile);
    }
    for (std::int64_t s = 0; s < strips; ++s)
        close_strip(p, first + s * row_lanes, last, strip_at(memory, s, p.width, p.stride));
}

std::int64_t scratch_of_one(std::int64_t width) { return padded<float>(width) + width * wide; }

// One row waits for memory alone: a panel gives its scores and, still in the first-level cache, is added to the sums,
// which are kept as vectors of partial sums, so that each column is read once.
void run_one(const SoftmaxSums& p, std::int64_t row, std::int64_t from, std::int64_t to, float* memory, float* total,
             float* sums) {
    float *scaled = memory, *parts = memory + padded<float>(p.width);
    for (std::int64_t k = 0; k < p.width; ++k) scaled[k] = p.scale * p.rows[row * p.width + k];
    for (std::int64_t i = 0; i < p.width * wide; ++i) parts[i] = 0.0f;
    const Floats offset = all(p.row_offsets[row]);
    Floats totals{};
    for (std::int64_t c = from; c < to; c += column_lanes) {
        const float* panel = p.panels + c * p.width;
        Floats left = load(p.column_offsets + c), right = load(p.column_offsets + c + wide);
        for (std::int64_t k = 0; k < p.width; ++k) {
            const Floats a = all(scaled[k]);
            left += a * load(panel + k * column_lanes);
            right += a * load(panel + k * column_lanes + wide);
        }
        left = exponential(left + offset), right = exponential(right + offset);
        totals += left + right;
        for (std::int64_t k = 0; k < p.width; ++k) {
            const Floats added = left * load(panel + k * column_lanes) + right * load(panel + k * column_lanes + wide);
            store(parts + k * wide, load(parts + k * wide) + added);
        }
    }
    *total = sum_of<float>(totals);
    for (std::int64_t k = 0; k < p.width; ++k) sums[k] = sum_of<float>(load(parts + k * wide));
}

}  // namespace

namespace TAYLORANK_LEVEL {

extern const SoftmaxSumsLevel softmax_sums_level;
const SoftmaxSumsLevel softmax_sums_level{row_lanes, column_lanes, wide, scratch, run, scratch_of_one, run_one};

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
