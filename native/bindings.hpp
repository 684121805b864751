// The parts of the Python module, one per kernel.
#pragma once

#include <nanobind/nanobind.h>

namespace taylorank {

void bind_row_solve(nanobind::module_& module);
void bind_small_product(nanobind::module_& module);
void bind_gram(nanobind::module_& module);
void bind_softmax_sums(nanobind::module_& module);

}  // namespace taylorank
