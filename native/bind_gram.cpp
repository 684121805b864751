// Python bindings of gram and inverse: shapes are checked here, before memory is read.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

GramRows<float> kernel_of(const Level& level, float) { return level.gram_float; }
GramRows<double> kernel_of(const Level& level, double) { return level.gram_double; }

std::int64_t whole_vectors(std::int64_t width) { return (width + padded_to - 1) / padded_to * padded_to; }

// Parts are cut by the shape alone and added in order, so that the number of threads does not show in the result.
template <class T>
void gram(const Gram<T>& problem, GramRows<T> kernel, int threads, double* out) {
    constexpr std::int64_t fewest = 8 * gram_depth, most_parts = 16;
    const std::int64_t part = std::max(fewest, (problem.count / most_parts / gram_depth + 1) * gram_depth);
    const std::int64_t parts = (problem.count + part - 1) / part, n = problem.padded, k = problem.width;
    std::vector<double> totals(parts * n * n);
    std::vector<T> scratch(std::min<std::int64_t>(threads, parts) * gram_scratch(problem));
    parallel_for_workers(parts, threads, [&](std::int64_t worker, std::int64_t c) {
        kernel(problem, c * part, std::min((c + 1) * part, problem.count), totals.data() + c * n * n,
               scratch.data() + worker * gram_scratch(problem));
    });
    std::fill(out, out + k * k, 0.0);
    for (std::int64_t c = 0; c < parts; ++c)
        for (std::int64_t i = 0; i < k; ++i)
            for (std::int64_t j = i; j < k; ++j) out[i * k + j] += totals[(c * n + i) * n + j];
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j < i; ++j) out[i * k + j] = out[j * k + i];
}

template <class T>
void bind(nb::module_& module) {
    module.def(
        "gram",
        [](Matrix<const T> rows, Matrix<double> out, const std::string& level, int threads) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, rows, out);
            if (out.shape(0) != rows.shape(1) || out.shape(1) != rows.shape(1))
                throw std::invalid_argument("out is not square with one row per column of rows");
            const auto width = static_cast<std::int64_t>(rows.shape(1));
            const Gram<T> problem{rows.data(), static_cast<std::int64_t>(rows.shape(0)), width, whole_vectors(width)};
            gram(problem, kernel_of(level_named(level), T{}), threads, out.data());
        },
        "rows"_a.noconvert(), "out"_a.noconvert(), "level"_a, "threads"_a);
}

// False, and `out` undefined, if the matrix is not positive definite. Unused columns get a unit diagonal.
bool inverse(const Matrix<const double>& matrix, const InverseLevel& kernel, int threads, double* out) {
    const auto k = static_cast<std::int64_t>(matrix.shape(0)), n = whole_vectors(k);
    std::vector<double> factor(n * n), scale(n), columns(k * n);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            factor[i * n + j] = i < k && j < k ? matrix.data()[i * k + j] : static_cast<double>(i == j);
    const Inverse problem{factor.data(), scale.data(), n};
    if (!kernel.prepare(problem)) return false;
    constexpr std::int64_t together = 16;
    parallel_for((k + together - 1) / together, threads, [&](std::int64_t c) {
        for (std::int64_t j = c * together; j < std::min((c + 1) * together, k); ++j)
            kernel.column(problem, j, columns.data() + j * n);
    });
    for (std::int64_t i = 0; i < k; ++i)
        for (std::int64_t j = 0; j < k; ++j) out[i * k + j] = 0.5 * (columns[i * n + j] + columns[j * n + i]);
    return true;
}

}  // namespace

void bind_gram(nb::module_& module) {
    bind<float>(module);
    bind<double>(module);
    module.def(
        "inverse",
        [](Matrix<const double> matrix, Matrix<double> out, const std::string& level, int threads) {
            const nb::gil_scoped_release unlocked;
            require_arrays(threads, matrix, out);
            if (matrix.shape(0) != matrix.shape(1) || out.shape(0) != matrix.shape(0) ||
                out.shape(1) != matrix.shape(0))
                throw std::invalid_argument("matrix and out are not square and of one size");
            return inverse(matrix, *level_named(level).inverse, threads, out.data());
        },
        "matrix"_a.noconvert(), "out"_a.noconvert(), "level"_a, "threads"_a);
}

}  // namespace taylorank
