// One row at a time: preconditioned conjugate gradients without ever forming H_x. Compiled once per SIMD level.
#include "dense_part.hpp"

namespace taylorank {
namespace {

template <class T>
struct Descent {
    T* x;
    T* residual;   // b - H x
    T* inverse;    // of the diagonal of H: the preconditioner
    T* direction;  // p
    T* image;      // H p
    T* tilt;       // f_x, padded
};

template <class T>
Descent<T> lay_out(std::int64_t n, Arena& arena) {
    Descent<T> room;
    room.x = arena.take<T>(n);
    room.residual = arena.take<T>(n);
    room.inverse = arena.take<T>(n);
    room.direction = arena.take<T>(n);
    room.image = arena.take<T>(n);
    room.tilt = arena.take<T>(n);
    return room;
}

template <class T>
std::size_t scratch_bytes(const RowSystem<T>& p, std::int64_t) {
    Arena arena{nullptr};
    lay_out<T>(p.stride, arena);
    return static_cast<std::size_t>(arena.next - static_cast<char*>(nullptr));
}

// y = H p
template <class T>
void multiply(const RowSystem<T>& s, std::int64_t x, const T* f, const T* p, T* y) {
    const std::int64_t n = s.stride, end = s.rows.indptr[x + 1];
    for (std::int64_t k = 0; k < n; ++k) y[k] = 0;
    add_dense_part(s, x, f, p, 0, n, y);
    // Entries that the first-level cache kept from the pass before need no prefetch.
    constexpr std::int64_t kept = 32768 / sizeof(T);
    const bool far = (end - s.rows.indptr[x]) * n > kept;
    for (std::int64_t j = s.rows.indptr[x]; j < end; j += group) {
        Group<T> entries;
        T scores[group];
        gather_group(s, j, end, 0, entries);
        if (far) prefetch_group(s, j + group, 0, n);
        score_group(entries.rows, p, n, scores);
        for (int i = 0; i < group; ++i) scores[i] *= entries.weights[i];
        add_group(entries.rows, scores, n, y);
    }
}

// residual = b - H x and the inverse diagonal of H, in one pass over the entries. False if the diagonal of H
// is not positive where the residual is not zero.
template <class T>
bool prepare(const RowSystem<T>& s, std::int64_t x, Descent<T>& room) {
    const std::int64_t n = s.stride, end = s.rows.indptr[x + 1];
    T *residual = room.residual, *diagonal = room.inverse;
    for (std::int64_t k = 0; k < n; ++k) {
        diagonal[k] = s.background[x] * s.gram[k * n + k] + s.regularization[x];
        if (s.tilt_rows) diagonal[k] -= s.tilt_mean[k] * (2 * room.tilt[k] + s.tilt_scales[x] * s.tilt_mean[k]);
        residual[k] = 0;
    }
    if (s.start) add_dense_part(s, x, room.tilt, room.x, 0, n, residual);
    for (std::int64_t k = 0; k < n; ++k) residual[k] = (s.offsets ? s.offsets[x] * s.direction[k] : T(0)) - residual[k];
    for (std::int64_t j = s.rows.indptr[x]; j < end; j += group) {
        Group<T> entries;
        T scores[group] = {};
        gather_group(s, j, end, 0, entries);
        prefetch_group(s, j + group, 0, n);
        if (s.start) score_group(entries.rows, room.x, n, scores);
        for (int i = 0; i < group; ++i) scores[i] = entries.targets[i] - entries.weights[i] * scores[i];
        add_group(entries.rows, scores, n, residual);
        add_squares_group(entries.rows, entries.weights, n, diagonal);
    }
    bool good = true;
    for (std::int64_t k = 0; k < n; ++k) {
        good = good && (diagonal[k] > 0 || residual[k] == 0);
        diagonal[k] = diagonal[k] > 0 ? T(1) / diagonal[k] : T(0);
    }
    return good;
}

// r' D^-1 r
template <class T>
T weighted_norm(const Descent<T>& room, std::int64_t n) {
    Vector<T> sum{};
    for (std::int64_t k = 0; k < n; k += lanes<T>) {
        const Vector<T> r = load(room.residual + k);
        sum += r * r * load(room.inverse + k);
    }
    return sum_of<T>(sum);
}

// One step along p, then the next direction in p; returns the new r' D^-1 r, or -1 where p' H p is not positive.
template <class T>
T step(const RowSystem<T>& s, std::int64_t x, Descent<T>& room, T norm) {
    const std::int64_t n = s.stride;
    multiply(s, x, room.tilt, room.direction, room.image);
    const T curvature = dot(room.direction, room.image, n);
    if (!(curvature > 0)) return -1;
    const T length = norm / curvature;
    for (std::int64_t k = 0; k < n; ++k) {
        room.x[k] += length * room.direction[k];
        room.residual[k] -= length * room.image[k];
    }
    const T next = weighted_norm(room, n), carry = next / norm;
    for (std::int64_t k = 0; k < n; ++k)
        room.direction[k] = room.inverse[k] * room.residual[k] + carry * room.direction[k];
    return next;
}

template <class T>
bool solve(const RowSystem<T>& s, std::int64_t x, void* scratch) {
    Arena arena{static_cast<char*>(scratch)};
    const std::int64_t n = s.stride;
    Descent<T> room = lay_out<T>(n, arena);
    copy_padded(s.start, x, s.width, n, room.x);
    copy_padded(s.tilt_rows, x, s.width, n, room.tilt);
    if (!prepare(s, x, room)) return false;
    for (std::int64_t k = 0; k < n; ++k) room.direction[k] = room.inverse[k] * room.residual[k];
    T norm = weighted_norm(room, n);
    constexpr T tiny = sizeof(T) == 4 ? T(1e-6) : T(1e-15);
    const T goal = norm * tiny * tiny;
    for (std::int64_t i = 0; i < s.steps && norm > goal; ++i) {
        norm = step(s, x, room, norm);
        if (!(norm >= 0)) return false;
    }
    bool finite = true;
    for (std::int64_t k = 0; k < s.width; ++k) {
        s.out[x * s.width + k] = room.x[k];
        finite = finite && room.x[k] - room.x[k] == 0;
    }
    return finite;
}

template <class T>
double work(const RowSystem<T>& p, std::int64_t entries) {
    const double width = static_cast<double>(p.width), dense = p.diagonal ? 4 : width;
    return 2.0 * static_cast<double>(p.steps + 1) * width * (static_cast<double>(entries) + dense) + 1024;
}

}  // namespace

namespace TAYLORANK_LEVEL {

template <class T>
RowMethod<T> gradients_method() {
    return {scratch_bytes<T>, solve<T>, work<T>};
}

template RowMethod<float> gradients_method<float>();
template RowMethod<double> gradients_method<double>();

}  // namespace TAYLORANK_LEVEL
}  // namespace taylorank
