// Products of vectors of small whole numbers: exact, and a quarter of the memory of single precision.
#pragma once

#include <cstdint>

namespace taylorank {

struct CodeProducts {
    const std::int8_t* codes;  // (count, width), each between -127 and 127
    const std::int16_t* row;   // (width); its largest times 127 times width fits in 31 bits
    std::int64_t width;        // a multiple of 64
    std::int32_t* out;         // Σ_k codes[y, k] row[k], (count)
};

// Rows [first, last).
using CodeProductsRows = void (*)(const CodeProducts& problem, std::int64_t first, std::int64_t last);

}  // namespace taylorank
