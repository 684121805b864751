// Solves all rows on several threads, each row on one; then those that failed once more, carefully.
#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel.hpp"
#include "row_solve.hpp"

namespace taylorank {
namespace {

struct Task {
    std::int64_t first, last;  // places in the list of rows
    double work;
};

struct Aligned {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t{64}); }
};
using Scratch = std::unique_ptr<void, Aligned>;

std::vector<Scratch> scratch_for(std::int64_t workers, std::size_t bytes) {
    std::vector<Scratch> scratch;
    for (std::int64_t i = 0; i < workers; ++i) scratch.emplace_back(::operator new(bytes, std::align_val_t{64}));
    return scratch;
}

template <class T>
std::int64_t entries_of(const RowSystem<T>& system, std::int64_t row) {
    return system.rows.indptr[row + 1] - system.rows.indptr[row];
}

// Neighbours share a task until it holds about half a millisecond of work. The largest tasks come first: a row of
// 10^5 entries that started last would leave the other threads idle.
template <class T>
std::vector<Task> tasks_of(const RowSystem<T>& system, const RowMethod<T>& method,
                           const std::vector<std::int64_t>& rows) {
    constexpr double enough = 1 << 24;
    std::vector<Task> tasks;
    double work = enough;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(rows.size()); ++i) {
        if (work >= enough) tasks.push_back({i, i, 0});
        tasks.back().work += method.work(system, entries_of(system, rows[i]));
        tasks.back().last = i + 1;
        work = tasks.back().work;
    }
    std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.work > b.work; });
    return tasks;
}

template <class T>
[[noreturn]] void throw_bad_index(const RowSystem<T>& system) {
    std::int64_t j = 0;
    while (system.indices[j] >= 0 && system.indices[j] < system.n_columns) ++j;
    throw std::invalid_argument("index " + std::to_string(system.indices[j]) + " at position " + std::to_string(j) +
                                " is outside the " + std::to_string(system.n_columns) + " rows of factors");
}

// All before any: entries are prefetched across rows.
template <class T>
void check_indices(const RowSystem<T>& system) {
    std::uint32_t largest = 0;  // a negative index is a huge unsigned one
    const std::int64_t count = system.rows.entries();
    for (std::int64_t j = 0; j < count; ++j)
        largest = std::max(largest, static_cast<std::uint32_t>(system.indices[j]));
    if (count > 0 && static_cast<std::int64_t>(largest) >= system.n_columns) throw_bad_index(system);
}

// Returns those of `rows`, in order, that the method could not solve.
template <class T>
std::vector<std::int64_t> solve_rows(const RowSystem<T>& system, const RowMethod<T>& method,
                                     const std::vector<std::int64_t>& rows, int threads) {
    const std::vector<Task> tasks = tasks_of(system, method, rows);
    std::int64_t longest = 0;
    for (const std::int64_t row : rows) longest = std::max(longest, entries_of(system, row));
    const std::int64_t workers = std::min<std::int64_t>(threads, static_cast<std::int64_t>(tasks.size()));
    const std::vector<Scratch> scratch = scratch_for(workers, method.scratch_bytes(system, longest));
    std::vector<char> failed(rows.size(), 0);
    parallel_for_workers(static_cast<std::int64_t>(tasks.size()), threads, [&](std::int64_t worker, std::int64_t t) {
        for (std::int64_t i = tasks[t].first; i < tasks[t].last; ++i)
            failed[i] = !method.solve(system, rows[i], scratch[worker].get());
    });
    std::vector<std::int64_t> left;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (failed[i]) left.push_back(rows[i]);
    return left;
}

}  // namespace

template <class T>
std::int64_t row_solve(const RowSystem<T>& system, const RowMethod<T>& method, const RowMethod<T>& careful,
                       int threads) {
    check_indices(system);
    std::vector<std::int64_t> rows(system.rows.count);
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    rows = solve_rows(system, method, rows, threads);
    if (!rows.empty()) rows = solve_rows(system, careful, rows, threads);
    return rows.empty() ? -1 : rows.front();
}

template std::int64_t row_solve<float>(const RowSystem<float>&, const RowMethod<float>&, const RowMethod<float>&, int);
template std::int64_t row_solve<double>(const RowSystem<double>&, const RowMethod<double>&, const RowMethod<double>&,
                                        int);

}  // namespace taylorank
