// Products of codes for Python: shapes are checked here, before memory is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "bindings.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T>
using Line = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::int64_t whole = 64;     // codes that every level takes at a time
constexpr std::int64_t share = 1 << 22;  // codes that are worth a thread

void code_products(Matrix<const std::int8_t> codes, Line<const std::int16_t> row, Line<std::int32_t> out,
                   const std::string& level, int threads) {
    const nb::gil_scoped_release unlocked;
    require_arrays(threads, codes, row, out);
    const auto count = static_cast<std::int64_t>(codes.shape(0)), width = static_cast<std::int64_t>(codes.shape(1));
    if (width % whole || static_cast<std::int64_t>(row.shape(0)) != width || out.shape(0) != codes.shape(0))
        throw std::invalid_argument("codes, row and out do not fit, or the width is no multiple of 64");
    const CodeProducts problem{codes.data(), row.data(), width, out.data()};
    const CodeProductsRows kernel = level_named(level).code_products;
    const std::int64_t each = std::max<std::int64_t>(1, share / std::max<std::int64_t>(width, 1));
    parallel_for((count + each - 1) / each, threads, [&](std::int64_t task) {
        kernel(problem, task * each, std::min((task + 1) * each, count));
    });
}

}  // namespace

void bind_code_products(nb::module_& module) {
    module.def("code_products", code_products, "codes"_a.noconvert(), "row"_a.noconvert(), "out"_a.noconvert(),
               "level"_a, "threads"_a);
}

}  // namespace taylorank
