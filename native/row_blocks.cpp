// One row at a time, block of coordinates after block: each block's normal equations are solved exactly given the
// rest, and the scores of the row's entries kept up to date (as in iALS++). Compiled once per SIMD level.
#include "cholesky.hpp"
#include "dense_part.hpp"

namespace taylorank {
namespace {

template <class T>
struct Sweep {
    T* x;       // (n)
    T* dense;   // (n): (a G + l I + tilt) x
    T* tilt;    // (n): f_x
    T* change;  // (n): of x, zero outside the block
    T* h;       // (block, block)
    T* b;       // (block)
    T* floors;
    T* inverse;
    T* scores;  // (entries): Q_y . x
    Panel<T> panel;
};

template <class T>
Sweep<T> lay_out(const RowSystem<T>& s, std::int64_t entries, Arena& arena) {
    Sweep<T> room;
    room.x = arena.take<T>(s.stride);
    room.dense = arena.take<T>(s.stride);
    room.tilt = arena.take<T>(s.stride);
    room.change = arena.take<T>(s.stride);
    room.h = arena.take<T>(s.block * s.block);
    room.b = arena.take<T>(s.block);
    room.floors = arena.take<T>(s.block);
    room.inverse = arena.take<T>(s.block);
    room.panel.plain = arena.take<T>(panel_size<T>(s.block));
    room.panel.scaled = arena.take<T>(panel_size<T>(s.block));
    room.scores = arena.take<T>(entries + group);
    return room;
}

template <class T>
std::size_t scratch_bytes(const RowSystem<T>& s, std::int64_t longest) {
    Arena arena{nullptr};
    lay_out(s, longest, arena);
    return static_cast<std::size_t>(arena.next - static_cast<char*>(nullptr));
}

// scores += Q_y . p over columns [column, column + n), for all entries of the row.
template <class T>
void add_scores(const RowSystem<T>& s, std::int64_t x, const T* p, std::int64_t column, std::int64_t n, T* scores) {
    const std::int64_t begin = s.rows.indptr[x], end = s.rows.indptr[x + 1];
    for (std::int64_t j = begin; j < end; j += group) {
        Group<T> entries;
        T gained[group];
        gather_group(s, j, end, column, entries);
        prefetch_group(s, j + group, column, n);
        score_group(entries.rows, p, n, gained);
        for (int i = 0; i < group; ++i) scores[j - begin + i] += gained[i];
    }
}

template <class T>
void begin_row(const RowSystem<T>& s, std::int64_t x, Sweep<T>& room) {
    const std::int64_t n = s.stride, entries = s.rows.indptr[x + 1] - s.rows.indptr[x];
    copy_padded(s.start, x, s.width, n, room.x);
    copy_padded(s.tilt_rows, x, s.width, n, room.tilt);
    for (std::int64_t k = 0; k < n; ++k) room.dense[k] = room.change[k] = 0;
    for (std::int64_t j = 0; j < entries + group; ++j) room.scores[j] = 0;
    if (!s.start) return;
    add_dense_part(s, x, room.tilt, room.x, 0, n, room.dense);
    add_scores(s, x, room.x, 0, n, room.scores);
}

// H and the residual of the block's equations.
template <class T>
void build(const RowSystem<T>& s, std::int64_t x, std::int64_t column, std::int64_t n, Sweep<T>& room) {
    set_background(s, x, column, n, room.h);
    for (std::int64_t k = 0; k < n; ++k)
        room.b[k] = (s.offsets ? s.offsets[x] * s.direction[column + k] : T(0)) - room.dense[column + k];
    const std::int64_t first = s.rows.indptr[x], end = s.rows.indptr[x + 1];
    for (std::int64_t begin = first; begin < end; begin += panel_entries) {
        const std::int64_t count = end - begin < panel_entries ? end - begin : panel_entries;
        gather(s, begin, begin + count, column, n, room.panel);
        T missing[panel_entries];
        for (std::int64_t e = 0; e < count; ++e)
            missing[e] = room.panel.targets[e] - room.panel.weights[e] * room.scores[begin - first + e];
        add_rows(room.panel, missing, count, n, room.b);
        add_squares(s, room.panel, count, n, room.h);
    }
    add_tilt(s, x, column, n, room.h);
}

template <class T>
bool solve_block(const RowSystem<T>& s, std::int64_t x, std::int64_t column, std::int64_t n, Sweep<T>& room) {
    build(s, x, column, n, room);
    if (!solve_positive(room.h, n, room.floors, room.inverse, room.b)) return false;
    for (std::int64_t k = 0; k < n; ++k) {
        room.x[column + k] += room.b[k];
        room.change[column + k] = room.b[k];
    }
    if (n == s.stride) return true;  // no other block depends on it
    add_scores(s, x, room.b, column, n, room.scores);
    add_dense_part(s, x, room.tilt, room.change, column, column + n, room.dense);
    for (std::int64_t k = 0; k < n; ++k) room.change[column + k] = 0;
    return true;
}

template <class T>
bool solve(const RowSystem<T>& s, std::int64_t x, void* scratch) {
    Arena arena{static_cast<char*>(scratch)};
    Sweep<T> room = lay_out(s, s.rows.indptr[x + 1] - s.rows.indptr[x], arena);
    begin_row(s, x, room);
    for (std::int64_t column = 0; column < s.stride; column += s.block) {
        const std::int64_t left = s.stride - column;
        if (!solve_block(s, x, column, left < s.block ? left : s.block, room)) return false;
    }
    bool finite = true;
    for (std::int64_t k = 0; k < s.width; ++k) {
        s.out[x * s.width + k] = room.x[k];
        finite = finite && room.x[k] - room.x[k] == 0;
    }
    return finite;
}

template <class T>
double work(const RowSystem<T>& s, std::int64_t entries) {
    const double width = static_cast<double>(s.width), block = static_cast<double>(s.block);
    return width * (static_cast<double>(entries) * (block / 2 + 3) + block * block / 6 + width) + 4096;
}

}  // namespace

namespace TAYLORANK_LEVEL {

template <class T>
RowMethod<T> blocks_method() {
    return {scratch_bytes<T>, solve<T>, work<T>};
}

template RowMethod<float> blocks_method<float>();
template RowMethod<double> blocks_method<double>();

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
