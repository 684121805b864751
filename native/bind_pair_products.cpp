// Python binding of pair products: every argument is checked here, before memory is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bindings.hpp"
#include "pair_products.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T, std::size_t dimensions>
using Array = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

template <class T>
bool in_range(const T* values, std::size_t count, std::int64_t limit) {
    return std::all_of(values, values + count, [limit](T value) { return value >= 0 && value < limit; });
}

}  // namespace

void bind_pair_products(nb::module_& module) {
    module.def(
        "pair_products",
        [](Array<const std::int64_t, 1> indptr, Array<const std::int32_t, 1> indices, Array<const float, 1> values,
           std::int64_t columns, Array<const std::int64_t, 2> items, Array<float, 3> out, int threads) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, indptr, indices, values, items, out);
            const Rows rows{indptr.data(), static_cast<std::int64_t>(indptr.shape(0)) - 1};
            check_rows(rows, static_cast<std::int64_t>(indices.shape(0)));
            if (values.shape(0) != indices.shape(0)) throw std::invalid_argument("values and indices differ in length");
            if (out.shape(0) != items.shape(0) || out.shape(1) != items.shape(1) || out.shape(2) != items.shape(1))
                throw std::invalid_argument("out is not of shape (lists, length, length)");
            if (columns > std::int64_t{1} << 31 || !in_range(indices.data(), indices.shape(0), columns))
                throw std::invalid_argument("an index is not a column");
            if (!in_range(items.data(), items.size(), rows.count)) throw std::invalid_argument("an item is not a row");
            const PairProducts problem{rows,         indices.data(), values.data(),
                                       columns,      items.data(),   static_cast<std::int64_t>(items.shape(1)),
                                       out.data()};
            std::vector<Chains> chains(std::min<std::int64_t>(threads, items.shape(0)));  // one a worker
            parallel_for_workers(items.shape(0), threads, [&](std::int64_t worker, std::int64_t list) {
                pair_products(problem, list, chains[worker]);
            });
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "columns"_a, "items"_a.noconvert(),
        "out"_a.noconvert(), "threads"_a);
}

}  // namespace taylorank
