// The k items with the largest P_x · Q_y of each user x, without the matrix of all scores.
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
    std::int64_t width;  // K
    Candidates* lists;   // (n_users)
};

// The kernels of one SIMD level. A score is a chain of K multiply-adds in the order of the columns, whatever the
// tile, so a pair of user and item has the same bits in every tile.
struct TopKLevel {
    std::int64_t user_lanes;
    std::int64_t item_lanes;
    // Scores all pairs of the tile and leaves in the lists what may be among the k best.
    void (*score)(const Tile& tile, const Selection& selection);
    // The same for one user whose n_items scores are given.
    void (*scan)(const float* scores, std::int64_t n_items, const Selection& selection, Candidates& list);
};

struct TopK {
    const float* users;  // P, (n_users, width)
    std::int64_t n_users;
    const float* items;  // Q, (n_items, width)
    std::int64_t n_items;
    std::int64_t width;                  // K
    const std::int32_t* allowed;         // (n_allowed): the items to rank, ascending, or null: all
    std::int64_t n_allowed;              // n_items if null
    Rows seen;                           // (n_users) rows of items to leave out; indptr null: none
    const std::int32_t* seen_items;      // ascending in each row
    std::int64_t k;
    std::int64_t* best_items;            // (n_users, k)
    float* best_scores;                  // (n_users, k)
};

// Throws std::invalid_argument for items outside [0, n_items), rows of seen items that do not ascend, and scores
// that are not a number. `tile_users` ≤ 0 means: as many as suit the caches.
void top_k(const TopK& problem, const TopKLevel& level, int threads, std::int64_t tile_users);

// The same from given scores, (n_users, n_items); −inf is left out.
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
