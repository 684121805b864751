// out[x, a, b] = r_i · r_j for i = items[x, a] and j = items[x, b]: products of few rows of a sparse matrix with each
// other, list by list.
#pragma once

#include <cstdint>
#include <vector>

#include "split.hpp"

namespace taylorank {

struct PairProducts {
    Rows rows;
    const std::int32_t* indices;  // (nnz), inside [0, columns); a row names a column once
    const float* values;          // (nnz)
    std::int64_t columns;
    const std::int64_t* items;  // (lists, length), inside [0, rows.count)
    std::int64_t length;
    float* out;  // (lists, length, length)
};

// What the items of a list have in a column is a chain, newest first.
struct Chains {
    struct Link {
        std::int32_t place;
        std::int32_t before;  // the link before it, -1 at the end
        float value;
    };
    std::vector<std::int32_t> newest;  // (columns), -1 where there is none
    std::vector<Link> links;
};

// One list. Room for its links is made first, so that nothing is lost where memory has run out.
void pair_products(const PairProducts& problem, std::int64_t list, Chains& chains);

}  // namespace taylorank
