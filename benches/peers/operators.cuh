// The items and the operators of all peers.
//
// Every program makes the same items from their indices, and can compare its results with these:
//     mix(k)          the finalizer of splitmix64 of (k + 1) * 0x9E3779B97F4A7C15, wrapping
//     sign(k)         (mix(k) >> 40) % 3 - 1: -1, 0 or 1 (sums)
//     uniform(k)      (mix(k) >> 40) / 2^23 - 1, in [-1, 1), not rounded (maxima, minima, norms,
//                     statistics)
//     bits(k)         the low bits of mix(k), to the width of the type (integers)
//     signed_half(k)  1/2 if mix(k) is odd, else -1/2 (quaternions)
// At k = 0, 1, 2: mix e220a8397b1dcdaf 6e789e6aa1b965f4 06c45d188009454f; sign -1 0 0;
// uniform 0x1.8882ap-1 -0x1.18762p-3 -0x1.e4ee8cp-1; signed_half 1/2 -1/2 1/2.
// Lane l of item i is made from k = i * lanes + l, as in one flat array, unless the operator says
// otherwise.
//
// The results do not depend on details of a peer:
// - Sums of -1, 0 and 1 are integers. For 2^32 of these items, no partial sum comes near 2^24 in
//   any order, so every order gives the same bits.
// - Four lanes of +-1/2 are a Hurwitz unit quaternion. Products of units are units, so they neither
//   grow, vanish nor round.
// - The point farthest from the origin leads by a clear margin, so a fused multiply-add does not
//   change the result.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <cuda/functional>
#include <cuda/std/functional>

#define BOTH __host__ __device__ inline

BOTH uint64_t mix(uint64_t k) {
    uint64_t z = (k + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
template <class T>
BOTH T sign(uint64_t k) {
    return T(int(mix(k) >> 40) % 3 - 1);
}
BOTH float uniform(uint64_t k) { return float(uint32_t(mix(k) >> 40)) * 0x1p-23f - 1.0f; }
template <class T>
BOTH T bits(uint64_t k) {
    return T(mix(k));
}
BOTH float signed_half(uint64_t k) { return mix(k) & 1 ? 0.5f : -0.5f; }

// An operator has:
// - `Item`, and the item of an index,
// - an identity, which CUB requires,
// - `Combine`, which is CUB's own function object if there is one: CUB has faster code for these,
// - `EXACT`: whether every order must give the same bits.

/// The alignment is the largest that the size permits, up to 16 bytes, so that the compiler can use
/// wide loads.
template <class T, int LANES>
struct alignas(std::min<size_t>(16, sizeof(T) * LANES & -(sizeof(T) * LANES))) Lanes {
    T lane[LANES];
};

template <class T, int LANES, class Lane>
BOTH Lanes<T, LANES> lanes_of_item(uint64_t item, Lane lane) {
    Lanes<T, LANES> lanes;
    for (int l = 0; l < LANES; ++l) lanes.lane[l] = lane(item * LANES + l);
    return lanes;
}

template <class T>
struct Sum {
    using Item = T;
    using Combine = cuda::std::plus<>;
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return sign<T>(index); }
    static BOTH Item identity() { return 0; }
};

template <class T>
struct Max {
    using Item = T;
    using Combine = cuda::maximum<>;
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return bits<T>(index); }
    static BOTH Item identity() { return 0; }
};

struct Min {
    using Item = int32_t;
    using Combine = cuda::minimum<>;
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return bits<int32_t>(index); }
    static BOTH Item identity() { return INT32_MAX; }
};

struct MaxByNorm {
    using Item = Lanes<float, 3>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            const float left = a.lane[0] * a.lane[0] + a.lane[1] * a.lane[1] + a.lane[2] * a.lane[2];
            const float right = b.lane[0] * b.lane[0] + b.lane[1] * b.lane[1] + b.lane[2] * b.lane[2];
            if (right > left) return b;
            return a;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, 3>(index, uniform); }
    static BOTH Item identity() { return {0, 0, 0}; }
};

/// The map x -> a x + b: left first, then right. The factors are 1 or -1, so nothing is rounded.
struct AffineMaps {
    using Item = Lanes<float, 2>;
    struct Combine {
        BOTH Item operator()(const Item& left, const Item& right) const {
            return {right.lane[0] * left.lane[0], right.lane[0] * left.lane[1] + right.lane[1]};
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) {
        return {mix(2 * index) & 1 ? 1.0f : -1.0f, sign<float>(2 * index + 1)};
    }
    static BOTH Item identity() { return {1, 0}; }
};

/// Wrapping product of row-major matrices. The diagonal is odd and the other entries are even. This
/// holds for every product as well, so no product vanishes. CUB does not keep the order, so its
/// result is not the product.
struct MatrixProduct {
    using Item = Lanes<uint32_t, 4>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            return {a.lane[0] * b.lane[0] + a.lane[1] * b.lane[2], a.lane[0] * b.lane[1] + a.lane[1] * b.lane[3],
                    a.lane[2] * b.lane[0] + a.lane[3] * b.lane[2], a.lane[2] * b.lane[1] + a.lane[3] * b.lane[3]};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) {
        const Item any = lanes_of_item<uint32_t, 4>(index, bits<uint32_t>);
        return {any.lane[0] | 1, any.lane[1] & ~1u, any.lane[2] & ~1u, any.lane[3] | 1};
    }
    static BOTH Item identity() { return {1, 0, 0, 1}; }
};

/// The minima of the first three lanes, and the maxima of the last three.
struct BoundingBox {
    using Item = Lanes<float, 6>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            Item box;
            for (int l = 0; l < 3; ++l) box.lane[l] = fminf(a.lane[l], b.lane[l]);
            for (int l = 3; l < 6; ++l) box.lane[l] = fmaxf(a.lane[l], b.lane[l]);
            return box;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, 6>(index, uniform); }
    static BOTH Item identity() { return {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY}; }
};

template <int LANES>
struct MaxOfIntegers {
    using Item = Lanes<uint32_t, LANES>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            Item largest;
            for (int l = 0; l < LANES; ++l) largest.lane[l] = a.lane[l] < b.lane[l] ? b.lane[l] : a.lane[l];
            return largest;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<uint32_t, LANES>(index, bits<uint32_t>); }
    static BOTH Item identity() { return {}; }
};

template <int LANES>
struct MaxOfFloats {
    using Item = Lanes<float, LANES>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            Item largest;
            for (int l = 0; l < LANES; ++l) largest.lane[l] = fmaxf(a.lane[l], b.lane[l]);
            return largest;
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, LANES>(index, uniform); }
    static BOTH Item identity() {
        Item smallest;
        for (int l = 0; l < LANES; ++l) smallest.lane[l] = -INFINITY;
        return smallest;
    }
};

/// Lanes: count, mean, sum of squared deviations from the mean. Item i is {1, uniform(i), 0}.
struct Welford {
    using Item = Lanes<double, 3>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            if (a.lane[0] == 0) return b;
            if (b.lane[0] == 0) return a;
            const double count = a.lane[0] + b.lane[0];
            const double delta = b.lane[1] - a.lane[1];
            const double weight = b.lane[0] / count;
            return {count, a.lane[1] + delta * weight, a.lane[2] + b.lane[2] + delta * delta * a.lane[0] * weight};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) { return {1, uniform(index), 0}; }
    static BOTH Item identity() { return {0, 0, 0}; }
};

/// Lanes: w, x, y, z. CUB does not keep the order, so its result is not the product.
struct QuaternionProduct {
    using Item = Lanes<float, 4>;
    struct Combine {
        BOTH Item operator()(const Item& p, const Item& q) const {
            const float *a = p.lane, *b = q.lane;
            return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) { return lanes_of_item<float, 4>(index, signed_half); }
    static BOTH Item identity() { return {1, 0, 0, 0}; }
};

/// Lanes: the largest exponent, and the sum of exponentials divided by the largest one. Item i is
/// {uniform(i), 1}.
struct LogSumExp {
    using Item = Lanes<float, 2>;
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            const bool left = b.lane[0] <= a.lane[0];
            const Item high = left ? a : b, low = left ? b : a;
            const float rest = low.lane[1] == 0 ? 0.0f : low.lane[1] * expf(low.lane[0] - high.lane[0]);
            return {high.lane[0], high.lane[1] + rest};
        }
    };
    static constexpr bool EXACT = false;
    static BOTH Item item(uint64_t index) { return {uniform(index), 1}; }
    static BOTH Item identity() { return {-INFINITY, 0}; }
};

/// The four largest numbers, largest first. The lanes of an item are sorted in the same way.
struct TopFour {
    using Item = Lanes<float, 4>;
    /// Sorts a bitonic sequence of four numbers, which rises and then falls.
    static BOTH Item merge(float p, float q, float r, float s) {
        const float p1 = fmaxf(p, r), r1 = fminf(p, r), q1 = fmaxf(q, s), s1 = fminf(q, s);
        return {fmaxf(p1, q1), fminf(p1, q1), fmaxf(r1, s1), fminf(r1, s1)};
    }
    struct Combine {
        BOTH Item operator()(const Item& a, const Item& b) const {
            return merge(fmaxf(a.lane[0], b.lane[3]), fmaxf(a.lane[1], b.lane[2]), fmaxf(a.lane[2], b.lane[1]),
                         fmaxf(a.lane[3], b.lane[0]));
        }
    };
    static constexpr bool EXACT = true;
    static BOTH Item item(uint64_t index) {
        const Item any = lanes_of_item<float, 4>(index, uniform);
        return merge(fminf(any.lane[0], any.lane[1]), fmaxf(any.lane[0], any.lane[1]), fmaxf(any.lane[2], any.lane[3]),
                     fminf(any.lane[2], any.lane[3]));
    }
    static BOTH Item identity() { return {-INFINITY, -INFINITY, -INFINITY, -INFINITY}; }
};
