// Items laid out for top-k, and top-k over them.
#pragma once

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "split.hpp"
#include "top_k.hpp"

namespace taylorank {

// An array without initial values that starts on a cache line.
class Floats {
   public:
    explicit Floats(std::int64_t size) : data_(new(std::align_val_t{64}) float[size]) {}
    Floats(const Floats&) = delete;
    Floats(Floats&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    ~Floats() { ::operator delete[](data_, std::align_val_t{64}); }
    float* data() const { return data_; }

   private:
    float* data_;
};

// Item vectors laid out in panels, once for many calls.
class ItemPanels {
   public:
    // `items` (n_chosen), ascending, are the rows of factors (n_items, width) to lay out; null: all of them.
    ItemPanels(const float* factors, std::int64_t n_items, std::int64_t width, const std::int32_t* items,
               std::int64_t n_chosen, const TopKLevel& level, int threads);

    const TopKLevel& level;
    const std::int64_t n_items;    // of the catalogue
    const std::int64_t width;      // K
    const std::int64_t count;      // items laid out
    const std::int32_t* chosen() const { return chosen_.empty() ? nullptr : chosen_.data(); }
    const float* data() const { return panels_.data(); }

   private:
    std::vector<std::int32_t> chosen_;
    Floats panels_;
};

struct TopK {
    const float* users;  // P, (n_users, width)
    std::int64_t n_users;
    const float* scales;             // (count) of the panels, see Tile
    const float* offsets;            // (count)
    const std::uint8_t* allowed;     // (count)
    Rows seen;                       // (n_users) rows of items to leave out; indptr null: none
    const std::int32_t* seen_items;  // ascending in each row
    std::int64_t k;
    std::int64_t* best_items;  // (n_users, k)
    float* best_scores;        // (n_users, k)
};

// Throws std::invalid_argument for rows of seen items that do not ascend within the catalogue, and for scores that
// are not a number. `tile_users` ≤ 0 means: as many as suit the caches.
void top_k(const TopK& problem, const ItemPanels& items, int threads, std::int64_t tile_users);

}  // namespace taylorank
