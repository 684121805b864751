// Cuts top-k into tiles of users, lays factors out in panels, and runs the tiles on several threads.
#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "item_panels.hpp"
#include "parallel.hpp"

namespace taylorank {
namespace {

constexpr float least = -std::numeric_limits<float>::infinity();

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// panel[k, i] = factors[row(first + i), k] for i < lanes, 0 beyond the last row.
template <class Row>
void fill_panel(const float* factors, std::int64_t width, std::int64_t first, std::int64_t count, std::int64_t lanes,
                const Row& row, float* panel) {
    const std::int64_t present = std::min(lanes, count - first);
    for (std::int64_t i = 0; i < lanes; ++i) {
        const float* from = i < present ? factors + row(first + i) * width : nullptr;
        for (std::int64_t k = 0; k < width; ++k) panel[k * lanes + i] = from ? from[k] : 0.0f;
    }
}

// Room for the lists of the users of one tile, used again for the next.
class Lists {
   public:
    Lists(std::int64_t users, std::int64_t k, std::int64_t n_items, const std::int32_t* items)
        : stride_(settling_limit(k, n_items) + slack),
          lists_(users),
          scores_(users * stride_),
          positions_(users * stride_),
          keys_(users * k),
          work_(2 * (k + stride_)),
          selection_{k, stride_ - slack, items, work_.data()} {}

    Candidates* lists() { return lists_.data(); }
    const Selection& selection() const { return selection_; }

    Candidates& open(std::int64_t user, const std::int32_t* seen, const std::int32_t* seen_end) {
        return lists_[user] = {least,
                               0,
                               scores_.data() + user * stride_,
                               positions_.data() + user * stride_,
                               keys_.data() + user * selection_.k,
                               0,
                               seen,
                               seen_end,
                               -1};
    }

   private:
    std::int64_t stride_;
    std::vector<Candidates> lists_;
    std::vector<float> scores_;
    std::vector<std::int32_t> positions_;
    std::vector<std::uint64_t> keys_, work_;
    Selection selection_;
};

// The first fault in the order of users, whichever thread meets it first.
class Fault {
   public:
    void note(std::int64_t user) {
        std::int64_t first = user_;
        while (user < first && !user_.compare_exchange_weak(first, user)) {
        }
    }
    std::int64_t user() const { return user_; }
    bool found() const { return user_ != std::numeric_limits<std::int64_t>::max(); }

   private:
    std::atomic<std::int64_t> user_{std::numeric_limits<std::int64_t>::max()};
};

[[noreturn]] void throw_not_a_number(std::int64_t user, std::int64_t item) {
    throw std::invalid_argument("the score of row " + std::to_string(user) + " and item " + std::to_string(item) +
                                " is not a number");
}

bool ascends(const std::int32_t* begin, const std::int32_t* end, std::int64_t n_items) {
    return begin == end || (*begin >= 0 && end[-1] < n_items && std::is_sorted(begin, end));
}

void check_seen(const TopK& p, std::int64_t n_items, int threads) {
    if (!p.seen.indptr) return;
    constexpr std::int64_t block = 1024;
    Fault fault;
    parallel_for((p.n_users + block - 1) / block, threads, [&](std::int64_t b) {
        for (std::int64_t x = b * block; x < std::min((b + 1) * block, p.n_users); ++x)
            if (!ascends(p.seen_items + p.seen.indptr[x], p.seen_items + p.seen.indptr[x + 1], n_items))
                fault.note(x);
    });
    if (fault.found())
        throw std::invalid_argument("row " + std::to_string(fault.user()) +
                                    " of seen does not ascend within the " + std::to_string(n_items) + " items");
}

// As many users as keep their factors and lists in a second-level cache, while every panel of items that comes
// from further away is used often, but a whole panel at least; fewer if that leaves threads idle.
std::int64_t default_tile_users(const TopK& p, const ItemPanels& items, int threads) {
    constexpr std::int64_t bytes = 512 << 10, most = 112;
    const std::int64_t list = 12 * p.k + 8 * (settling_limit(p.k, items.count) + slack);
    const std::int64_t lanes = items.level.user_lanes;
    const std::int64_t fit = std::max(lanes, std::min(most, bytes / (4 * items.width + list)));
    const std::int64_t share = (p.n_users + threads - 1) / threads;
    return std::max<std::int64_t>(1, std::min(fit / lanes * lanes, share));
}

void run_tile(const TopK& p, const ItemPanels& items, std::int64_t first, std::int64_t last, float* users,
              Lists& lists, Fault& fault) {
    const TopKLevel& level = items.level;
    const auto row = [&](std::int64_t i) { return i; };
    for (std::int64_t x = first; x < last; x += level.user_lanes)
        fill_panel(p.users, items.width, x, last, level.user_lanes, row, users + (x - first) * items.width);
    for (std::int64_t x = first; x < last; ++x) {
        const std::int32_t* seen = p.seen.indptr ? p.seen_items + p.seen.indptr[x] : nullptr;
        lists.open(x - first, seen, p.seen.indptr ? p.seen_items + p.seen.indptr[x + 1] : nullptr);
    }
    level.score({users, last - first, items.data(), items.count, items.width, p.scales, p.offsets, p.allowed,
                 lists.lists()},
                lists.selection());
    for (std::int64_t x = first; x < last; ++x) {
        Candidates& list = lists.lists()[x - first];
        finish(lists.selection(), list, p.best_items + x * p.k, p.best_scores + x * p.k);
        if (list.not_a_number >= 0) {
            p.best_items[x * p.k] = list.not_a_number;
            fault.note(x);
        }
    }
}

// Calls task(worker, i) for all i < count; a worker runs on one thread only.
template <class Task>
void parallel_workers(std::int64_t count, std::int64_t workers, const Task& task) {
    std::atomic<std::int64_t> next{0};
    parallel_for(workers, std::max(1, static_cast<int>(workers)), [&](std::int64_t worker) {
        for (std::int64_t i = next++; i < count; i = next++) task(worker, i);
    });
}

}  // namespace

ItemPanels::ItemPanels(const float* factors, std::int64_t n_items, std::int64_t width, const std::int32_t* items,
                       std::int64_t n_chosen, const TopKLevel& level, int threads)
    : level(level),
      n_items(n_items),
      width(width),
      count(items ? n_chosen : n_items),
      chosen_(items, items ? items + n_chosen : items),
      panels_(round_up(count, level.item_lanes) * width) {
    for (std::int64_t i = 0; items && i < count; ++i)
        if (items[i] < 0 || items[i] >= n_items || (i > 0 && items[i - 1] >= items[i]))
            throw std::invalid_argument("the chosen items do not ascend within the items");
    const auto item = [&](std::int64_t i) { return items ? std::int64_t{items[i]} : i; };
    parallel_for(round_up(count, level.item_lanes) / level.item_lanes, threads, [&](std::int64_t panel) {
        const std::int64_t first = panel * level.item_lanes;
        fill_panel(factors, width, first, count, level.item_lanes, item, panels_.data() + first * width);
    });
}

void top_k(const TopK& p, const ItemPanels& items, int threads, std::int64_t tile_users) {
    check_seen(p, items.n_items, threads);
    if (tile_users <= 0) tile_users = default_tile_users(p, items, threads);
    tile_users = std::min(tile_users, std::max<std::int64_t>(1, p.n_users));
    const std::int64_t tiles = (p.n_users + tile_users - 1) / tile_users;
    const std::int64_t workers = std::min<std::int64_t>(threads, tiles);
    std::vector<Lists> lists;
    std::vector<Floats> users;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        lists.emplace_back(tile_users, p.k, items.count, items.chosen());
        users.emplace_back(round_up(tile_users, items.level.user_lanes) * items.width);
    }
    Fault fault;
    parallel_workers(tiles, workers, [&](std::int64_t worker, std::int64_t tile) {
        const std::int64_t first = tile * tile_users, last = std::min(first + tile_users, p.n_users);
        run_tile(p, items, first, last, users[worker].data(), lists[worker], fault);
    });
    if (fault.found()) throw_not_a_number(fault.user(), p.best_items[fault.user() * p.k]);
}

void top_k_scores(const TopKScores& p, const TopKLevel& level, int threads) {
    constexpr std::int64_t block_cells = 1 << 16;
    const std::int64_t block = std::max<std::int64_t>(1, block_cells / std::max<std::int64_t>(1, p.n_items));
    const std::int64_t blocks = (p.n_users + block - 1) / block, workers = std::min<std::int64_t>(threads, blocks);
    std::vector<Lists> lists;
    for (std::int64_t worker = 0; worker < workers; ++worker) lists.emplace_back(1, p.k, p.n_items, nullptr);
    Fault fault;
    parallel_workers(blocks, workers, [&](std::int64_t worker, std::int64_t b) {
        for (std::int64_t x = b * block; x < std::min((b + 1) * block, p.n_users); ++x) {
            Candidates& list = lists[worker].open(0, nullptr, nullptr);
            level.scan(p.scores + x * p.n_items, p.n_items, lists[worker].selection(), list);
            finish(lists[worker].selection(), list, p.best_items + x * p.k, p.best_scores + x * p.k);
            if (list.not_a_number >= 0) {
                p.best_items[x * p.k] = list.not_a_number;
                fault.note(x);
            }
        }
    });
    if (fault.found()) throw_not_a_number(fault.user(), p.best_items[fault.user() * p.k]);
}

}  // namespace taylorank
