#include "candidates.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace taylorank {
namespace {

constexpr std::uint32_t sign = std::uint32_t{1} << 31;

// Maps score and item to one number that is larger for what ranks first. −0 becomes +0.
std::uint64_t key_of(float score, std::uint32_t item) {
    const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);
    const std::uint32_t rising = bits & sign ? ~bits : bits | sign;
    return static_cast<std::uint64_t>(rising) << 32 | static_cast<std::uint32_t>(~item);
}

float score_of(std::uint64_t key) {
    const auto rising = static_cast<std::uint32_t>(key >> 32);
    return std::bit_cast<float>(rising & sign ? rising & ~sign : ~rising);
}

std::int64_t item_of(std::uint64_t key) { return static_cast<std::uint32_t>(~key); }

// Where, among three places, the key stands that should have about k of `count` keys above it.
std::int64_t pivot_place(const std::uint64_t* keys, std::int64_t count, std::int64_t k) {
    std::int64_t places[3] = {0, count / 2, count - 1};
    std::sort(places, places + 3, [&](std::int64_t a, std::int64_t b) { return keys[a] > keys[b]; });
    return places[3 * k / count];
}

// Moves the k largest of `count` distinct keys to the front. As std::nth_element, but a comparison steers no branch,
// which the processor would guess wrong every other time. `spare` has room for `count` keys.
void move_largest(std::uint64_t* keys, std::int64_t count, std::int64_t k, std::uint64_t* spare) {
    for (int rounds = 0; k > 0 && k < count; ++rounds) {
        if (rounds == 40) return std::nth_element(keys, keys + k, keys + count, std::greater<>());
        std::swap(keys[pivot_place(keys, count, k)], keys[count - 1]);
        const std::uint64_t pivot = keys[count - 1];
        std::int64_t above = 0, below = 0;
        for (std::int64_t i = 0; i + 1 < count; ++i) {
            const std::uint64_t key = keys[i];
            keys[above] = spare[below] = key;
            above += key > pivot;
            below += key < pivot;
        }
        if (above >= k) {
            count = above;
            continue;
        }
        keys[above] = pivot;
        keys += above + 1;
        k -= above + 1;
        count = below;
        std::copy_n(spare, below, keys);
    }
}

}  // namespace

std::int64_t settling_limit(std::int64_t k, std::int64_t n_items) {
    constexpr std::int64_t shortest = 64;
    return std::max<std::int64_t>(1, std::min(std::max(k, shortest), n_items));
}

void settle(const Selection& selection, Candidates& list) {
    std::uint64_t* end = std::copy_n(list.keys, list.kept, selection.work);
    for (std::int32_t i = 0; i < list.count; ++i) {
        const std::int32_t position = list.positions[i], item = selection.items ? selection.items[position] : position;
        while (list.seen != list.seen_end && *list.seen < item) ++list.seen;
        if (list.seen != list.seen_end && *list.seen == item) continue;
        if (list.scores[i] != list.scores[i]) {
            if (list.not_a_number < 0) list.not_a_number = item;
            continue;
        }
        *end++ = key_of(list.scores[i], static_cast<std::uint32_t>(item));
    }
    list.count = 0;
    const std::int64_t found = end - selection.work;
    list.kept = std::min(found, selection.k);
    if (found >= selection.k) {
        move_largest(selection.work, found, selection.k, end);
        std::uint64_t least = selection.work[0];
        for (std::int64_t i = 1; i < selection.k; ++i) least = std::min(least, selection.work[i]);
        list.threshold = score_of(least);
    }
    std::copy_n(selection.work, list.kept, list.keys);
}

void finish(const Selection& selection, Candidates& list, std::int64_t* items, float* scores) {
    settle(selection, list);
    std::sort(list.keys, list.keys + list.kept, std::greater<>());
    for (std::int64_t i = 0; i < list.kept; ++i) {
        items[i] = item_of(list.keys[i]);
        scores[i] = score_of(list.keys[i]);
    }
    std::fill(items + list.kept, items + selection.k, -1);
    std::fill(scores + list.kept, scores + selection.k, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace taylorank
