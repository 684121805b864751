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
#include "item_panels.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

const GatherSumLevel<float>& kernel_of(const Level& level, float) { return level.gather_sum_float; }
const GatherSumLevel<double>& kernel_of(const Level& level, double) { return level.gather_sum_double; }
NonzeroScoresChunk<float> scores_kernel_of(const Level& level, float) { return level.nonzero_scores_float; }
NonzeroScoresChunk<double> scores_kernel_of(const Level& level, double) { return level.nonzero_scores_double; }

template <class T>
void bind_gather_sum(nb::module_& module) {
    module.def(
        "gather_sum",
        [](Vector<const std::int64_t> indptr, Vector<const std::int32_t> indices, Matrix<const T> factors,
           std::optional<Vector<const T>> weights, Matrix<T> out, const std::string& level, int threads,
           std::int64_t chunk_items, std::int64_t band_rows) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, indptr, indices, factors, weights, out);
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
            gather_sum(problem, kernel_of(level_named(level), T{}), chunk_items, band_rows, threads);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "factors"_a.noconvert(), "weights"_a.noconvert().none(),
        "out"_a.noconvert(), "level"_a, "threads"_a, "chunk_items"_a = 0, "band_rows"_a = 0);
}

template <class T>
void bind_nonzero_scores(nb::module_& module) {
    module.def(
        "nonzero_scores",
        [](Vector<const std::int64_t> indptr, Vector<const std::int32_t> indices, Matrix<const T> users,
           Matrix<const T> items, Vector<T> out, const std::string& level, int threads, std::int64_t chunk_items) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, indptr, indices, users, items, out);
            const Rows rows{indptr.data(), static_cast<std::int64_t>(indptr.shape(0)) - 1};
            check_rows(rows, static_cast<std::int64_t>(indices.shape(0)));
            if (static_cast<std::int64_t>(users.shape(0)) != rows.count || users.shape(1) != items.shape(1))
                throw std::invalid_argument("users do not have one row per row and the columns of items");
            if (out.shape(0) != indices.shape(0)) throw std::invalid_argument("out and indices differ in length");
            const NonzeroScores<T> problem{rows,
                                           indices.data(),
                                           users.data(),
                                           items.data(),
                                           static_cast<std::int64_t>(items.shape(0)),
                                           static_cast<std::int64_t>(items.shape(1)),
                                           out.data()};
            nonzero_scores(problem, scores_kernel_of(level_named(level), T{}), chunk_items, threads);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "users"_a.noconvert(), "items"_a.noconvert(),
        "out"_a.noconvert(), "level"_a, "threads"_a, "chunk_items"_a = 0);
}

// The length of the lists, if both results have one row for each of `rows` users.
std::int64_t list_length(const Matrix<std::int64_t>& ids, const Matrix<float>& scores, std::size_t rows) {
    if (ids.shape(0) != rows || scores.shape(0) != rows || ids.shape(1) != scores.shape(1) || ids.shape(1) == 0)
        throw std::invalid_argument("ids and scores are not of shape (rows, k) with k ≥ 1");
    return static_cast<std::int64_t>(ids.shape(1));
}

// Positions are 32 bits wide and move in steps of whole vectors.
std::int64_t item_count(std::size_t items) {
    if (items > (std::size_t{1} << 31) - 1024) throw std::invalid_argument("there are more than 2³¹ - 1024 items");
    return static_cast<std::int64_t>(items);
}

Rows seen_rows(const std::optional<Vector<const std::int64_t>>& indptr,
               const std::optional<Vector<const std::int32_t>>& items, std::size_t users) {
    if (indptr.has_value() != items.has_value()) throw std::invalid_argument("seen has one of its two parts only");
    if (!indptr) return {nullptr, 0};
    const Rows rows{indptr->data(), static_cast<std::int64_t>(indptr->shape(0)) - 1};
    check_rows(rows, static_cast<std::int64_t>(items->shape(0)));
    if (rows.count != static_cast<std::int64_t>(users))
        throw std::invalid_argument("seen does not have one row per user");
    return rows;
}

template <class T>
const T* values_of(const std::optional<Vector<const T>>& values, std::int64_t count, const char* what) {
    if (!values) return nullptr;
    if (static_cast<std::int64_t>(values->shape(0)) != count)
        throw std::invalid_argument(std::string(what) + " does not have one value per item");
    return values->data();
}

void bind_top_k(nb::module_& module) {
    nb::class_<ItemPanels>(module, "ItemPanels")
        .def(
            "__init__",
            [](ItemPanels* place, Matrix<const float> factors, std::optional<Vector<const std::int32_t>> chosen,
               const std::string& level, int threads) {
                const nb::gil_scoped_release unlocked;
                require_arrays(threads, factors, chosen);
                new (place) ItemPanels(factors.data(), item_count(factors.shape(0)),
                                       static_cast<std::int64_t>(factors.shape(1)),
                                       chosen ? chosen->data() : nullptr,
                                       chosen ? static_cast<std::int64_t>(chosen->shape(0)) : 0,
                                       *level_named(level).top_k, threads);
            },
            "factors"_a.noconvert(), "chosen"_a.noconvert().none(), "level"_a, "threads"_a)
        .def_ro("count", &ItemPanels::count);
    module.def(
        "top_k",
        [](Matrix<const float> users, const ItemPanels& items, std::optional<Vector<const float>> scales,
           std::optional<Vector<const float>> offsets, std::optional<Vector<const std::uint8_t>> allowed,
           std::optional<Vector<const std::int64_t>> seen_indptr, std::optional<Vector<const std::int32_t>> seen_items,
           Matrix<std::int64_t> ids, Matrix<float> scores, int threads, std::int64_t tile_users) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, users, scales, offsets, allowed, seen_indptr, seen_items, ids, scores);
            if (static_cast<std::int64_t>(users.shape(1)) != items.width)
                throw std::invalid_argument("users and items differ in width");
            const TopK problem{users.data(),
                               static_cast<std::int64_t>(users.shape(0)),
                               values_of(scales, items.count, "scales"),
                               values_of(offsets, items.count, "offsets"),
                               values_of(allowed, items.count, "allowed"),
                               seen_rows(seen_indptr, seen_items, users.shape(0)),
                               seen_items ? seen_items->data() : nullptr,
                               list_length(ids, scores, users.shape(0)),
                               ids.data(),
                               scores.data()};
            top_k(problem, items, threads, tile_users);
        },
        "users"_a.noconvert(), "items"_a, "scales"_a.noconvert().none(), "offsets"_a.noconvert().none(),
        "allowed"_a.noconvert().none(), "seen_indptr"_a.noconvert().none(), "seen_items"_a.noconvert().none(),
        "ids"_a.noconvert(), "scores"_a.noconvert(), "threads"_a, "tile_users"_a = 0);
    module.def(
        "top_k_scores",
        [](Matrix<const float> given, Matrix<std::int64_t> ids, Matrix<float> scores, const std::string& level,
           int threads) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, given, ids, scores);
            const TopKScores problem{given.data(),
                                     static_cast<std::int64_t>(given.shape(0)),
                                     item_count(given.shape(1)),
                                     list_length(ids, scores, given.shape(0)),
                                     ids.data(),
                                     scores.data()};
            top_k_scores(problem, *level_named(level).top_k, threads);
        },
        "given"_a.noconvert(), "ids"_a.noconvert(), "scores"_a.noconvert(), "level"_a, "threads"_a);
}

}  // namespace
}  // namespace taylorank

NB_MODULE(_native, module) {
    nb::set_leak_warnings(false);  // a model that lives until Python ends is no leak
    module.def("simd_levels", [] {
        std::vector<std::string> names;
        for (const auto& level : taylorank::supported_levels()) names.emplace_back(level.name);
        return names;
    });
    taylorank::bind_gather_sum<float>(module);
    taylorank::bind_gather_sum<double>(module);
    taylorank::bind_nonzero_scores<float>(module);
    taylorank::bind_nonzero_scores<double>(module);
    taylorank::bind_top_k(module);
    taylorank::bind_row_solve(module);
    taylorank::bind_small_product(module);
    taylorank::bind_gram(module);
    taylorank::bind_softmax_sums(module);
    taylorank::bind_code_products(module);
    taylorank::bind_pair_products(module);
}
