// The SIMD levels this build has, and which of them this CPU can run.
#pragma once

#include <string>
#include <vector>

#include "code_products.hpp"
#include "gather_sum.hpp"
#include "gram.hpp"
#include "inverse.hpp"
#include "nonzero_scores.hpp"
#include "top_k.hpp"
#include "row_solve.hpp"
#include "small_product.hpp"
#include "softmax_sums.hpp"
#include "unit_adam.hpp"

namespace taylorank {

struct Level {
    const char* name;
    GatherSumLevel<float> gather_sum_float;
    GatherSumLevel<double> gather_sum_double;
    NonzeroScoresChunk<float> nonzero_scores_float;
    NonzeroScoresChunk<double> nonzero_scores_double;
    const TopKLevel* top_k;
    RowMethods<float> rows_float;
    RowMethods<double> rows_double;
    SmallProductRows<float> small_product_float;
    SmallProductRows<double> small_product_double;
    GramRows<float> gram_float;
    GramRows<double> gram_double;
    const InverseLevel* inverse;
    const SoftmaxSumsLevel* softmax_sums;
    UnitAdamRows unit_adam;
    CodeProductsRows code_products;
};

// Built and supported by this CPU, slowest first; never empty. Found once, when first asked.
const std::vector<Level>& supported_levels();

// Throws std::invalid_argument if the level is not among the supported ones.
const Level& level_named(const std::string& name);

}  // namespace taylorank
