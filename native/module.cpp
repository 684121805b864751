// Python bindings: arrays in, arrays out; every argument is checked here or in the kernel before memory is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

GatherSumChunk<float> kernel_of(const Level& level, float) { return level.gather_sum_float; }
GatherSumChunk<double> kernel_of(const Level& level, double) { return level.gather_sum_double; }

template <class T>
void bind_gather_sum(nb::module_& module) {
    module.def(
        "gather_sum",
        [](Vector<const std::int64_t> indptr, Vector<const std::int32_t> indices, Matrix<const T> factors,
           std::optional<Vector<const T>> weights, Matrix<T> out, const std::string& level, int threads,
           std::int64_t chunk_items) {
            const nb::gil_scoped_release unlocked;
            const Rows rows{indptr.data(), static_cast<std::int64_t>(indptr.shape(0)) - 1};
            check_rows(rows, static_cast<std::int64_t>(indices.shape(0)));
            if (weights && weights->shape(0) != indices.shape(0))
                throw std::invalid_argument("weights and indices differ in length");
            if (static_cast<std::int64_t>(out.shape(0)) != rows.count || out.shape(1) != factors.shape(1))
                throw std::invalid_argument("out does not have one row per row and one column per column of factors");
            const GatherSum<T> problem{rows,
                                       indices.data(),
                                       weights ? weights->data() : nullptr,
                                       factors.data(),
                                       static_cast<std::int64_t>(factors.shape(0)),
                                       static_cast<std::int64_t>(factors.shape(1)),
                                       out.data()};
            gather_sum(problem, kernel_of(level_named(level), T{}), chunk_items, threads);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "factors"_a.noconvert(), "weights"_a.noconvert().none(),
        "out"_a.noconvert(), "level"_a, "threads"_a, "chunk_items"_a = 0);
}

}  // namespace
}  // namespace taylorank

NB_MODULE(_native, module) {
    module.def("simd_levels", [] {
        std::vector<std::string> names;
        for (const auto& level : taylorank::supported_levels()) names.emplace_back(level.name);
        return names;
    });
    taylorank::bind_gather_sum<float>(module);
    taylorank::bind_gather_sum<double>(module);
    taylorank::bind_row_solve(module);
    taylorank::bind_turn(module);
}
