// One step of Adam on vectors of which only the direction counts: u = w / ‖w‖.
#pragma once

#include <cstdint>

namespace taylorank {

// With g the gradient by u: t = (g − (g·u) u) / ‖w‖, m ← β₁ m + (1 − β₁) t, s ← β₂ s + (1 − β₂) t²,
// w ← w − rate · m / (√s + ε), u ← w / ‖w‖. `rate` and ε hold the corrections for the first steps.
struct UnitAdam {
    float* raw;             // w, (count, width)
    float* unit;            // u, (count, width)
    const float* gradient;  // g, (count, width)
    float* first;           // m, (count, width)
    float* second;          // s, (count, width)
    std::int64_t width;
    float rate;
    float epsilon;
    float decay_first;   // β₁
    float decay_second;  // β₂
};

// Rows [first, last).
using UnitAdamRows = void (*)(const UnitAdam& problem, std::int64_t first, std::int64_t last);

}  // namespace taylorank
