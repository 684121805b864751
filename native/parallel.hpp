// Runs numbered tasks on several threads. Threads live for one call only, so a fork between calls is safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace taylorank {

// While it lives, this thread takes numbers below the smallest normal one (1e-38) for 0. Factors that a strong penalty
// drives to nothing are such numbers, and arithmetic with them is a hundred times slower.
class WithoutSubnormals {
#if defined(__SSE2__)
    static constexpr unsigned FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x0040;
    const unsigned before = _mm_getcsr();

  public:
    WithoutSubnormals() { _mm_setcsr(before | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO); }
    ~WithoutSubnormals() { _mm_setcsr(before); }
#else
  public:
    WithoutSubnormals() {}
#endif
    WithoutSubnormals(const WithoutSubnormals&) = delete;
    WithoutSubnormals& operator=(const WithoutSubnormals&) = delete;
};

inline void require_threads(int threads) {
    if (threads < 1) throw std::invalid_argument("threads is less than 1");
}

// Calls task(worker, i) once for each i < count, in any order; `worker` < `threads` names the thread, so that each
// may own some memory. What a task throws is thrown again here, when all threads have ended; tasks not begun are left.
template <class Task>
void parallel_for_workers(std::int64_t count, int threads, const Task& task) {
    require_threads(threads);
    std::atomic<std::int64_t> next{0};
    std::exception_ptr thrown;
    std::mutex one_at_a_time;
    const auto work = [&](std::int64_t worker) {
        const WithoutSubnormals flushed;
        try {
            for (std::int64_t i = next++; i < count; i = next++) task(worker, i);
        } catch (...) {
            const std::lock_guard<std::mutex> held(one_at_a_time);
            if (!thrown) thrown = std::current_exception();
            next = count;
        }
    };
    const std::int64_t helpers = std::min<std::int64_t>(threads, count) - 1;
    std::vector<std::thread> pool;
    try {
        if (helpers > 0) pool.reserve(helpers);  // a vector that grows would move threads that run
        for (std::int64_t worker = 1; worker <= helpers; ++worker) pool.emplace_back(work, worker);
    } catch (...) {
        // The system grants no more threads, or no memory for them; those that run, and this one, do all the work.
    }
    work(0);
    for (std::thread& helper : pool) helper.join();
    if (thrown) std::rethrow_exception(thrown);
}

// Calls task(0), …, task(count - 1) once each, in any order; throws what a task throws.
template <class Task>
void parallel_for(std::int64_t count, int threads, const Task& task) {
    parallel_for_workers(count, threads, [&](std::int64_t, std::int64_t i) { task(i); });
}

}  // namespace taylorank
