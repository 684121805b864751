// The inner loop of pair products: what a row shares with the rows before it is found by its columns.
#include "pair_products.hpp"

#include <algorithm>
#include <stdexcept>

namespace taylorank {
namespace {

constexpr std::int64_t most_links = (std::int64_t{1} << 31) - 1;

void make_room(const PairProducts& p, const std::int64_t* items, Chains& chains) {
    std::int64_t entries = 0;
    for (std::int64_t a = 0; a < p.length; ++a) entries += p.rows.indptr[items[a] + 1] - p.rows.indptr[items[a]];
    if (entries > most_links) throw std::invalid_argument("the rows of a list have 2³¹ entries or more");
    chains.links.reserve(entries);
    if (chains.newest.empty()) chains.newest.assign(p.columns, -1);
}

}  // namespace

void pair_products(const PairProducts& p, std::int64_t list, Chains& chains) {
    const std::int64_t* items = p.items + list * p.length;
    float* out = p.out + list * p.length * p.length;
    make_room(p, items, chains);
    std::fill(out, out + p.length * p.length, 0.0f);
    for (std::int64_t a = 0; a < p.length; ++a) {
        float* products = out + a * p.length;
        for (std::int64_t j = p.rows.indptr[items[a]]; j < p.rows.indptr[items[a] + 1]; ++j) {
            std::int32_t& newest = chains.newest[p.indices[j]];
            const float value = p.values[j];
            products[a] += value * value;
            for (std::int32_t at = newest; at >= 0; at = chains.links[at].before)
                products[chains.links[at].place] += value * chains.links[at].value;
            chains.links.push_back({static_cast<std::int32_t>(a), newest, value});
            newest = static_cast<std::int32_t>(chains.links.size()) - 1;
        }
    }
    for (std::int64_t a = 0; a < p.length; ++a) {
        for (std::int64_t j = p.rows.indptr[items[a]]; j < p.rows.indptr[items[a] + 1]; ++j)
            chains.newest[p.indices[j]] = -1;
        for (std::int64_t b = 0; b < a; ++b) out[b * p.length + a] = out[a * p.length + b];
    }
    chains.links.clear();
}

}  // namespace taylorank
