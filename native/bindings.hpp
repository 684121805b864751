// The parts of the Python module, one per kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "parallel.hpp"

namespace taylorank {

template <class T, class... Properties>
bool is_aligned(const nanobind::ndarray<T, Properties...>& array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) == 0;
}
template <class Array>
bool is_aligned(const std::optional<Array>& array) {
    return !array || is_aligned(*array);
}

// What every kernel asks of its arguments: arrays whose numbers stand where a processor may read them, and a thread.
template <class... Arrays>
void require_arrays(int threads, const Arrays&... arrays) {
    require_threads(threads);
    if (!(is_aligned(arrays) && ...)) throw std::invalid_argument("an array is not aligned to its numbers");
}

void bind_row_solve(nanobind::module_& module);
void bind_small_product(nanobind::module_& module);
void bind_gram(nanobind::module_& module);
void bind_softmax_sums(nanobind::module_& module);
void bind_code_products(nanobind::module_& module);
void bind_pair_products(nanobind::module_& module);

}  // namespace taylorank
