// The k best items of a user, found while scores stream by in ascending order of items.
//
// A score becomes a candidate if it beats the threshold, the k-th best score so far. A full list of candidates is
// settled: what the user has seen is dropped, the k best are kept, the threshold rises. Items only ascend, so a
// later item never replaces an earlier one of equal score: strict comparison is the whole rule for ties.
//
// Plain data and no inline functions, because the kernels of every SIMD level include this file.
#pragma once

#include <cstdint>

namespace taylorank {

// The state of one user: one cache line.
struct Candidates {
    float threshold;            // −inf until k items are kept: a score of −inf never enters
    std::int32_t count;         // candidates since the last settling
    float* scores;              // (limit + slack)
    std::int32_t* positions;    // (limit + slack), ascending
    std::uint64_t* keys;        // (k): the best so far, in no order
    std::int64_t kept;          // how many keys there are
    const std::int32_t* seen;   // items to leave out, ascending; [seen, seen_end) are not passed yet
    const std::int32_t* seen_end;
    std::int64_t not_a_number;  // the first item with such a score, or -1
};

// What all users of a thread share.
struct Selection {
    std::int64_t k;
    std::int64_t limit;         // settle a list that has so many candidates
    const std::int32_t* items;  // the item at each position, ascending, or null: the position itself
    std::uint64_t* work;        // (2 (k + limit + slack))
};

// A list may outgrow its limit by what one step of a kernel adds.
constexpr std::int64_t slack = 64;

// A longer list is settled less often but lets more candidates in; 32 to 128 differ little for k = 20.
std::int64_t settling_limit(std::int64_t k, std::int64_t n_items);

// Keeps the k best of the candidates and of those kept before, and empties the list.
void settle(const Selection& selection, Candidates& list);

// Settles, then writes the items by falling score, equal scores by rising item; pads with -1 and NaN.
void finish(const Selection& selection, Candidates& list, std::int64_t* items, float* scores);

}  // namespace taylorank
