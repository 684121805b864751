// One row at a time: H_x in full, then Cholesky. Compiled once per SIMD level.
#include "cholesky.hpp"
#include "panel.hpp"

namespace taylorank {
namespace {

template <class T>
struct Exact {
    T* h;        // (n, n)
    T* b;        // (n), then the solution
    T* floors;   // (n)
    T* inverse;  // (n)
    Panel<T> panel;
};

template <class T>
Exact<T> lay_out(std::int64_t n, Arena& arena) {
    Exact<T> room;
    room.h = arena.take<T>(n * n);
    room.b = arena.take<T>(n);
    room.floors = arena.take<T>(n);
    room.inverse = arena.take<T>(n);
    room.panel.plain = arena.take<T>(panel_size<T>(n));
    room.panel.scaled = arena.take<T>(panel_size<T>(n));
    return room;
}

template <class S, class T>
std::size_t scratch_bytes(const RowSystem<S>& p, std::int64_t) {
    Arena arena{nullptr};
    lay_out<T>(padded<T>(p.width), arena);
    return static_cast<std::size_t>(arena.next - static_cast<char*>(nullptr));
}

template <class S, class T>
void build(const RowSystem<S>& p, std::int64_t x, std::int64_t n, Exact<T>& room) {
    set_background(p, x, 0, n, room.h);
    for (std::int64_t k = 0; k < n; ++k) room.b[k] = p.offsets ? T(p.offsets[x]) * T(p.direction[k]) : T(0);
    const std::int64_t end = p.rows.indptr[x + 1];
    for (std::int64_t begin = p.rows.indptr[x]; begin < end; begin += panel_entries) {
        const std::int64_t count = end - begin < panel_entries ? end - begin : panel_entries;
        gather(p, begin, begin + count, 0, n, room.panel);
        add_rows(room.panel, room.panel.targets, count, n, room.b);
        add_squares(p, room.panel, count, n, room.h);
    }
    add_tilt(p, x, 0, n, room.h);
}

template <class T>
bool all_zero(const Exact<T>& room, std::int64_t width, std::int64_t n) {
    for (std::int64_t i = 0; i < width; ++i) {
        if (room.b[i] != 0) return false;
        for (std::int64_t j = i; j < width; ++j)
            if (room.h[i * n + j] != 0) return false;
    }
    return true;
}

template <class S, class T>
bool solve(const RowSystem<S>& p, std::int64_t x, void* scratch) {
    Arena arena{static_cast<char*>(scratch)};
    const std::int64_t n = padded<T>(p.width);
    Exact<T> room = lay_out<T>(n, arena);
    build(p, x, n, room);
    S* out = p.out + x * p.width;
    // A first pivot of zero is the only way for all of H to be zero.
    if (room.h[0] == 0 && all_zero(room, p.width, n)) {
        for (std::int64_t k = 0; k < p.width; ++k) out[k] = 0;
        return true;
    }
    if (!solve_positive(room.h, n, room.floors, room.inverse, room.b)) return false;
    bool finite = true;
    for (std::int64_t k = 0; k < p.width; ++k) {
        out[k] = S(room.b[k]);
        finite = finite && out[k] - out[k] == 0;
    }
    return finite;
}

template <class S>
double work(const RowSystem<S>& p, std::int64_t entries) {
    const double width = static_cast<double>(p.width);
    return width * width * (static_cast<double>(entries) / 2 + width / 6) + 4096;
}

}  // namespace

namespace TAYLORANK_LEVEL {

template <class S>
RowMethod<S> cholesky_method() {
    return {scratch_bytes<S, S>, solve<S, S>, work<S>};
}

template <class S>
RowMethod<S> careful_method() {
    return {scratch_bytes<S, double>, solve<S, double>, work<S>};
}

template RowMethod<float> cholesky_method<float>();
template RowMethod<double> cholesky_method<double>();
template RowMethod<float> careful_method<float>();
template RowMethod<double> careful_method<double>();

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
