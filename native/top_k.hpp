// The k items with the largest P_x · Q_y of each user x, without the matrix of all scores: what one SIMD level does.
//
// Plain data and no inline functions, because the kernels of every SIMD level include this file.
#pragma once

#include <cstdint>

#include "candidates.hpp"
#include "split.hpp"

namespace taylorank {

// A panel holds the factors of a few users or items, one column of all of them after the other: (width, lanes).
// The last panel is filled up with zeros.
struct Tile {
    const float* users;  // (user panels, width, user_lanes)
    std::int64_t n_users;
    const float* items;  // (item panels, width, item_lanes)
    std::int64_t n_items;
    std::int64_t width;           // K
    const float* scales;          // (n_items): score = scale · product + offset; null: 1
    const float* offsets;         // (n_items); null: 0
    const std::uint8_t* allowed;  // (n_items): 0 for what is not to be ranked; null: all are
    Candidates* lists;            // (n_users)
};

// The kernels of one SIMD level. A product is a chain of K multiply-adds in the order of the columns, whatever the
// tile, so a pair of user and item has the same bits in every tile.
struct TopKLevel {
    std::int64_t user_lanes;
    std::int64_t item_lanes;
    // Scores all pairs of the tile and leaves in the lists what may be among the k best.
    void (*score)(const Tile& tile, const Selection& selection);
    // The same for one user whose n_items scores are given.
    void (*scan)(const float* scores, std::int64_t n_items, const Selection& selection, Candidates& list);
};

// The best of given scores, (n_users, n_items); −inf is left out, not a number throws std::invalid_argument.
struct TopKScores {
    const float* scores;
    std::int64_t n_users;
    std::int64_t n_items;
    std::int64_t k;
    std::int64_t* best_items;  // (n_users, k)
    float* best_scores;        // (n_users, k)
};

void top_k_scores(const TopKScores& problem, const TopKLevel& level, int threads);

}  // namespace taylorank
