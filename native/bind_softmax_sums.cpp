// Softmax sums and Adam on directions for Python: columns are laid out once per call, rows are shared among threads.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "item_panels.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace taylorank {
namespace {

template <class T>
using Line = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr float nothing = -1e30f;  // offset of a column that is not there
constexpr std::int64_t most_strips = 8;
constexpr std::int64_t few_rows = 3;         // so few are quicker one by one than as a strip
constexpr std::int64_t most_columns = 4096;  // that a thread takes at a time then

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// The columns (count, width) in both layouts, see softmax_sums.hpp; once for many calls.
class Columns {
   public:
    Columns(const float* from, const float* offsets, std::int64_t count, std::int64_t width,
            const SoftmaxSumsLevel& level, int threads)
        : level(level),
          width(width),
          count(round_up(count, level.column_lanes)),
          stride(round_up(width, level.lanes)),
          panels(this->count * width),
          rows(this->count * stride),
          offsets(this->count) {
        const std::int64_t lanes = level.column_lanes;
        parallel_for(this->count / lanes, threads, [&](std::int64_t panel) {
            for (std::int64_t i = 0; i < lanes; ++i) {
                const std::int64_t c = panel * lanes + i;
                const float* column = c < count ? from + c * width : nullptr;
                float* row = rows.data() + c * stride;
                for (std::int64_t k = 0; k < stride; ++k) row[k] = column && k < width ? column[k] : 0.0f;
                float* first = panels.data() + panel * lanes * width + i;
                for (std::int64_t k = 0; k < width; ++k) first[k * lanes] = row[k];
                this->offsets.data()[c] = column ? offsets[c] : nothing;
            }
        });
    }

    const SoftmaxSumsLevel& level;
    const std::int64_t width, count, stride;
    Floats panels, rows, offsets;
};

// A thread costs as much as about this many operations.
constexpr double least_share = 4e6;

int useful_threads(int threads, double operations) {
    return static_cast<int>(std::min<double>(threads, 1 + operations / least_share));
}

// Shares of whole strips, a few for each thread and about equal, so that no thread waits long for another.
void run_softmax_sums(const SoftmaxSums& problem, const SoftmaxSumsLevel& level, int threads) {
    const std::int64_t strips = (problem.count + level.row_lanes - 1) / level.row_lanes;
    if (strips == 0) return;
    const std::int64_t each = (strips + threads - 1) / threads;
    const std::int64_t tasks = std::min(strips, threads * ((each + most_strips - 1) / most_strips));
    const std::int64_t most_rows = (strips / tasks + 1) * level.row_lanes;
    std::vector<Floats> scratch;
    for (std::int64_t worker = 0; worker < std::min<std::int64_t>(threads, tasks); ++worker)
        scratch.emplace_back(level.scratch(most_rows, problem.width, problem.stride));
    parallel_for_workers(tasks, threads, [&](std::int64_t worker, std::int64_t task) {
        const std::int64_t first = task * strips / tasks * level.row_lanes;
        const std::int64_t last = std::min((task + 1) * strips / tasks * level.row_lanes, problem.count);
        level.run(problem, first, last, scratch[worker].data());
    });
}

// Few rows, one after the other: the columns are shared among the threads, in parts that do not depend on how many
// these are, and the parts are added in order.
void run_few_softmax_sums(const SoftmaxSums& problem, const SoftmaxSumsLevel& level, int threads) {
    const std::int64_t width = problem.width, each = most_columns / level.column_lanes * level.column_lanes;
    const std::int64_t parts = (problem.n_columns + each - 1) / each, tasks = parts * problem.count;
    const std::int64_t size = round_up(level.scratch_of_one(width), 16);
    const Floats scratch(size * std::max<std::int64_t>(1, std::min<std::int64_t>(threads, tasks)));
    std::vector<float> totals(tasks), sums(tasks * width);
    parallel_for_workers(tasks, threads, [&](std::int64_t worker, std::int64_t task) {
        const std::int64_t from = task % parts * each, to = std::min(from + each, problem.n_columns);
        level.run_one(problem, task / parts, from, to, scratch.data() + worker * size, &totals[task],
                      sums.data() + task * width);
    });
    for (std::int64_t row = 0; row < problem.count; ++row) {
        problem.totals[row] = 0.0f;
        std::fill_n(problem.sums + row * width, width, 0.0f);
        for (std::int64_t task = row * parts; task < (row + 1) * parts; ++task) {
            problem.totals[row] += totals[task];
            for (std::int64_t k = 0; k < width; ++k) problem.sums[row * width + k] += sums[task * width + k];
        }
    }
}

void softmax_sums(Matrix<const float> rows, Line<const float> row_offsets, const Columns& columns, float scale,
                  Line<float> totals, Matrix<float> sums, int threads) {
    const nb::gil_scoped_release unlocked;
    require_arrays(threads, rows, row_offsets, totals, sums);
    const auto count = static_cast<std::int64_t>(rows.shape(0));
    if (row_offsets.shape(0) != rows.shape(0) || static_cast<std::int64_t>(rows.shape(1)) != columns.width ||
        totals.shape(0) != rows.shape(0) || sums.shape(0) != rows.shape(0) || sums.shape(1) != rows.shape(1))
        throw std::invalid_argument("rows, columns, offsets and results do not fit");
    const double operations = 4.0 * static_cast<double>(count * columns.count * columns.width);
    const SoftmaxSums problem{rows.data(),           count,         row_offsets.data(),
                              columns.width,         scale,         columns.panels.data(),
                              columns.rows.data(),   columns.offsets.data(), columns.count,
                              columns.stride,        totals.data(), sums.data()};
    const auto run = count <= few_rows ? run_few_softmax_sums : run_softmax_sums;
    run(problem, columns.level, useful_threads(threads, operations));
}

void unit_adam(Matrix<float> raw, Matrix<float> unit, Matrix<const float> gradient, Matrix<float> first,
               Matrix<float> second, float rate, float epsilon, float decay_first, float decay_second,
               const std::string& level_name, int threads) {
    const nb::gil_scoped_release unlocked;
    require_arrays(threads, raw, unit, gradient, first, second);
    const auto fits = [&](const auto& other) {
        return other.shape(0) == raw.shape(0) && other.shape(1) == raw.shape(1);
    };
    if (!fits(unit) || !fits(gradient) || !fits(first) || !fits(second))
        throw std::invalid_argument("the arrays of the vectors, gradients and moments differ in shape");
    const auto count = static_cast<std::int64_t>(raw.shape(0));
    const UnitAdam problem{raw.data(),    unit.data(), gradient.data(), first.data(), second.data(),
                           static_cast<std::int64_t>(raw.shape(1)), rate, epsilon, decay_first, decay_second};
    const UnitAdamRows kernel = level_named(level_name).unit_adam;
    constexpr std::int64_t together = 512;
    const int useful = useful_threads(threads, 16.0 * static_cast<double>(raw.size()));
    parallel_for((count + together - 1) / together, useful, [&](std::int64_t task) {
        kernel(problem, task * together, std::min((task + 1) * together, count));
    });
}

}  // namespace

void bind_softmax_sums(nb::module_& module) {
    nb::class_<Columns>(module, "SoftmaxColumns")
        .def(
            "__init__",
            [](Columns* place, Matrix<const float> columns, Line<const float> offsets, const std::string& level,
               int threads) {
                const nb::gil_scoped_release unlocked;
                require_arrays(threads, columns, offsets);
                if (offsets.shape(0) != columns.shape(0))
                    throw std::invalid_argument("columns and offsets differ in number");
                new (place) Columns(columns.data(), offsets.data(), static_cast<std::int64_t>(columns.shape(0)),
                                    static_cast<std::int64_t>(columns.shape(1)), *level_named(level).softmax_sums,
                                    useful_threads(threads, 4.0 * static_cast<double>(columns.size())));
            },
            "columns"_a.noconvert(), "offsets"_a.noconvert(), "level"_a, "threads"_a);
    module.def("softmax_sums", softmax_sums, "rows"_a.noconvert(), "row_offsets"_a.noconvert(), "columns"_a, "scale"_a,
               "totals"_a.noconvert(), "sums"_a.noconvert(), "threads"_a);
    module.def("unit_adam", unit_adam, "raw"_a.noconvert(), "unit"_a.noconvert(), "gradient"_a.noconvert(),
               "first"_a.noconvert(), "second"_a.noconvert(), "rate"_a, "epsilon"_a, "decay_first"_a,
               "decay_second"_a, "level"_a, "threads"_a);
}

}  // namespace taylorank
