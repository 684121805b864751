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

}  // namespace

std::int64_t settling_limit(std::int64_t k, std::int64_t n_items) {
    constexpr std::int64_t shortest = 128;
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
        std::uint64_t* last = selection.work + selection.k - 1;
        std::nth_element(selection.work, last, end, std::greater<>());
        list.threshold = score_of(*last);
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
