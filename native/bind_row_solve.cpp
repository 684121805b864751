// Python binding of row_solve: shapes are checked here, before memory is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::int64_t most_steps = 1 << 30;  // so that sums with it do not overflow

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

template <class T>
const T* data_of(const std::optional<Vector<T>>& vector, std::int64_t length, const char* message) {
    require(!vector || static_cast<std::int64_t>(vector->shape(0)) == length, message);
    return vector ? vector->data() : nullptr;
}

template <class T>
const T* data_of(const std::optional<Matrix<T>>& matrix, std::int64_t rows, std::int64_t columns, const char* message) {
    require(!matrix || (static_cast<std::int64_t>(matrix->shape(0)) == rows &&
                        static_cast<std::int64_t>(matrix->shape(1)) == columns),
            message);
    return matrix ? matrix->data() : nullptr;
}

RowMethods<float> methods_of(const Level& level, float) { return level.rows_float; }
RowMethods<double> methods_of(const Level& level, double) { return level.rows_double; }

template <class T>
const RowMethod<T>& method_named(const RowMethods<T>& methods, const std::string& name) {
    if (name == "cholesky") return methods.cholesky;
    if (name == "cg") return methods.gradients;
    if (name == "blocks") return methods.blocks;
    throw std::invalid_argument("no method " + name);
}

template <class T>
void bind(nb::module_& module) {
    module.def(
        "row_solve",
        [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, std::optional<Vector<T>> weights, T weight,
           std::optional<Vector<T>> targets, T target, Matrix<T> factors, Matrix<T> gram, bool diagonal,
           Vector<T> background, Vector<T> regularization, std::optional<Vector<T>> offsets,
           std::optional<Vector<T>> direction, std::optional<Matrix<T>> tilt_rows, std::optional<Vector<T>> tilt_mean,
           std::optional<Vector<T>> tilt_scales, std::optional<Matrix<T>> start, Output<T> out,
           const std::string& method, std::int64_t steps, std::int64_t block, const std::string& level, int threads) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, indptr, indices, weights, targets, factors, gram, background, regularization,
                           offsets, direction, tilt_rows, tilt_mean, tilt_scales, start, out);
            const Rows rows{indptr.data(), static_cast<std::int64_t>(indptr.shape(0)) - 1};
            const auto nnz = static_cast<std::int64_t>(indices.shape(0));
            check_rows(rows, nnz);
            const auto width = static_cast<std::int64_t>(out.shape(1));
            const auto stride = static_cast<std::int64_t>(factors.shape(1));
            require(static_cast<std::int64_t>(out.shape(0)) == rows.count && width > 0, "out has not one row per row");
            require(stride >= width && stride % padded_to == 0, "factors are not padded");
            require(static_cast<std::int64_t>(gram.shape(0)) == stride && gram.shape(1) == gram.shape(0),
                    "gram does not fit the factors");
            require(static_cast<std::int64_t>(background.shape(0)) == rows.count &&
                        static_cast<std::int64_t>(regularization.shape(0)) == rows.count,
                    "background or regularization is not one value per row");
            require(offsets.has_value() == direction.has_value(), "offsets need a direction");
            require(tilt_rows.has_value() == tilt_mean.has_value() && tilt_mean.has_value() == tilt_scales.has_value(),
                    "a tilt has three parts");
            require(steps >= 0 && steps <= most_steps && block > 0 && block % padded_to == 0,
                    "steps or block is out of range");
            const RowSystem<T> system{
                rows,
                indices.data(),
                {data_of<T>(weights, nnz, "weights and indices differ in length"), weight},
                {data_of<T>(targets, nnz, "targets and indices differ in length"), target},
                factors.data(),
                static_cast<std::int64_t>(factors.shape(0)),
                width,
                stride,
                gram.data(),
                diagonal,
                background.data(),
                regularization.data(),
                data_of<T>(offsets, rows.count, "offsets are not one value per row"),
                data_of<T>(direction, stride, "direction is not padded"),
                data_of<T>(tilt_rows, rows.count, width, "tilt does not fit the rows"),
                data_of<T>(tilt_mean, stride, "the mean of the tilt is not padded"),
                data_of<T>(tilt_scales, rows.count, "tilt scales are not one value per row"),
                data_of<T>(start, rows.count, width, "start does not have the shape of out"),
                steps,
                std::min(block, stride),
                out.data()};
            const RowMethods<T> methods = methods_of(level_named(level), T{});
            return row_solve(system, method_named(methods, method), methods.careful, threads);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "weights"_a.noconvert().none(), "weight"_a,
        "targets"_a.noconvert().none(), "target"_a, "factors"_a.noconvert(), "gram"_a.noconvert(), "diagonal"_a,
        "background"_a.noconvert(), "regularization"_a.noconvert(), "offsets"_a.noconvert().none(),
        "direction"_a.noconvert().none(), "tilt_rows"_a.noconvert().none(), "tilt_mean"_a.noconvert().none(),
        "tilt_scales"_a.noconvert().none(), "start"_a.noconvert().none(), "out"_a.noconvert(), "method"_a, "steps"_a,
        "block"_a, "level"_a, "threads"_a);
}

}  // namespace

void bind_row_solve(nb::module_& module) {
    bind<float>(module);
    bind<double>(module);
}

}  // namespace taylorank
