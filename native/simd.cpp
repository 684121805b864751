#include "simd.hpp"

#include <stdexcept>

#define TAYLORANK_DECLARE(level)                                        \
    namespace taylorank::level {                                        \
    template <class T>                                                  \
    bool gather_sum_chunk(const GatherSum<T>&, const Chunk&, T* carry); \
    template <class T>                                                  \
    bool gather_sum_bands(const GatherSum<T>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t*); \
    template <class T>                                                  \
    bool nonzero_scores_chunk(const NonzeroScores<T>&, const Chunk&);   \
    extern const TopKLevel top_k_level;                                 \
    template <class T>                                                  \
    RowMethod<T> cholesky_method();                                     \
    template <class T>                                                  \
    RowMethod<T> gradients_method();                                    \
    template <class T>                                                  \
    RowMethod<T> blocks_method();                                       \
    template <class T>                                                  \
    RowMethod<T> careful_method();                                      \
    template <class T>                                                  \
    void small_product_rows(const SmallProduct<T>&, std::int64_t, std::int64_t);         \
    template <class T>                                                  \
    void gram_rows(const Gram<T>&, std::int64_t, std::int64_t, double*, T*); \
    extern const InverseLevel inverse_level;                            \
    extern const SoftmaxSumsLevel softmax_sums_level;                   \
    void unit_adam_rows(const UnitAdam&, std::int64_t, std::int64_t);   \
    void code_products_rows(const CodeProducts&, std::int64_t, std::int64_t); \
    }
#define TAYLORANK_ROWS_OF(level, T)                                                           \
    RowMethods<T> {                                                                           \
        level::cholesky_method<T>(), level::gradients_method<T>(), level::blocks_method<T>(), \
            level::careful_method<T>()                                                        \
    }
#define TAYLORANK_LEVEL_OF(level)                                                            \
    Level {                                                                                  \
        #level, {level::gather_sum_chunk<float>, level::gather_sum_bands<float>},            \
            {level::gather_sum_chunk<double>, level::gather_sum_bands<double>},              \
            level::nonzero_scores_chunk<float>, level::nonzero_scores_chunk<double>,         \
            &level::top_k_level, TAYLORANK_ROWS_OF(level, float),                            \
            TAYLORANK_ROWS_OF(level, double), level::small_product_rows<float>, level::small_product_rows<double>, \
            level::gram_rows<float>, level::gram_rows<double>, &level::inverse_level,        \
            &level::softmax_sums_level, level::unit_adam_rows, level::code_products_rows     \
    }

TAYLORANK_DECLARE(baseline)
#ifdef TAYLORANK_HAS_AVX2
TAYLORANK_DECLARE(avx2)
#endif
#ifdef TAYLORANK_HAS_AVX512
TAYLORANK_DECLARE(avx512)
#endif

namespace taylorank {
namespace {

std::vector<Level> find_levels() {
    std::vector<Level> levels{TAYLORANK_LEVEL_OF(baseline)};
#ifdef TAYLORANK_HAS_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) levels.push_back(TAYLORANK_LEVEL_OF(avx2));
#endif
#ifdef TAYLORANK_HAS_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        levels.push_back(TAYLORANK_LEVEL_OF(avx512));
#endif
    return levels;
}

}  // namespace

const std::vector<Level>& supported_levels() {
    static const std::vector<Level> levels = find_levels();
    return levels;
}

const Level& level_named(const std::string& name) {
    for (const Level& level : supported_levels())
        if (name == level.name) return level;
    throw std::invalid_argument("this CPU or this build has no SIMD level " + name);
}

}  // namespace taylorank
