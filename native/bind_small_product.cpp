// Python binding of the small product: shapes are checked here, before memory is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "bindings.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

SmallProductRows<float> kernel_of(const Level& level, float) { return level.small_product_float; }
SmallProductRows<double> kernel_of(const Level& level, double) { return level.small_product_double; }

template <class T>
void bind(nb::module_& module) {
    module.def(
        "small_product",
        [](Matrix<const T> rows, Matrix<const T> basis, Matrix<T> out, const std::string& level, int threads) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, rows, basis, out);
            if (out.shape(0) != rows.shape(0) || out.shape(1) > basis.shape(1) || rows.shape(1) > basis.shape(0) ||
                basis.shape(1) % padded_to != 0)
                throw std::invalid_argument("rows, basis and out do not fit");
            const auto count = static_cast<std::int64_t>(rows.shape(0));
            const SmallProduct<T> problem{rows.data(),  count,
                                  static_cast<std::int64_t>(rows.shape(1)),
                                  basis.data(), static_cast<std::int64_t>(basis.shape(1)),
                                  out.data(),   static_cast<std::int64_t>(out.shape(1))};
            const SmallProductRows<T> kernel = kernel_of(level_named(level), T{});
            constexpr std::int64_t together = 512;
            parallel_for((count + together - 1) / together, threads, [&](std::int64_t c) {
                kernel(problem, c * together, std::min((c + 1) * together, count));
            });
        },
        "rows"_a.noconvert(), "basis"_a.noconvert(), "out"_a.noconvert(), "level"_a, "threads"_a);
}

}  // namespace

void bind_small_product(nb::module_& module) {
    bind<float>(module);
    bind<double>(module);
}

}  // namespace taylorank
