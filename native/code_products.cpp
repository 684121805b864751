// Products of codes. Compiled once per SIMD level, with TAYLORANK_LEVEL as its namespace.
#include "code_products.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taylorank {
namespace {

// Pairs of 16-bit products are added in 32 bits by one instruction; compilers do not find it behind the 8-bit codes.
inline std::int32_t product(const std::int8_t* codes, const std::int16_t* row, std::int64_t width) {
#if defined(__AVX512BW__)
    __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (std::int64_t k = 0; k < width; k += 64)
        for (int v = 0; v < 2; ++v) {
            const __m512i wide = _mm512_cvtepi8_epi16(
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + k + 32 * v)));
            const __m512i other = _mm512_loadu_si512(row + k + 32 * v);
            sums[v] = _mm512_add_epi32(sums[v], _mm512_madd_epi16(wide, other));
        }
    return _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1]));
#elif defined(__AVX2__)
    __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (std::int64_t k = 0; k < width; k += 32)
        for (int v = 0; v < 2; ++v) {
            const __m256i wide = _mm256_cvtepi8_epi16(
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + k + 16 * v)));
            const __m256i other = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + k + 16 * v));
            sums[v] = _mm256_add_epi32(sums[v], _mm256_madd_epi16(wide, other));
        }
    std::int32_t parts[8], sum = 0;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), _mm256_add_epi32(sums[0], sums[1]));
    for (const std::int32_t part : parts) sum += part;
    return sum;
#else
    std::int32_t sum = 0;
    for (std::int64_t k = 0; k < width; ++k) sum += static_cast<std::int32_t>(codes[k]) * row[k];
    return sum;
#endif
}

}  // namespace

namespace TAYLORANK_LEVEL {

void code_products_rows(const CodeProducts& p, std::int64_t first, std::int64_t last);
void code_products_rows(const CodeProducts& p, std::int64_t first, std::int64_t last) {
    for (std::int64_t y = first; y < last; ++y) p.out[y] = product(p.codes + y * p.width, p.row, p.width);
}

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
