"""Writes values.csv: the results of NumPy, SciPy and Python's fractions that references.rs expects.

    pip install numpy scipy
    python3 tests/references/generate.py > tests/references/values.csv

Each data set is a sequence of integer operations and of float operations that are rounded once, so
`Data` in references.rs computes the same elements.
"""

import math
import sys
from fractions import Fraction

import numpy
import scipy
from scipy.special import logsumexp
from scipy.stats import kurtosis, linregress, skew

BASE = 1_000_003
MODULUS = 2**61 - 1


def mixed(k):
    """32 bits that depend on k."""
    bits = k * 2654435761 % 2**32
    bits ^= bits >> 16
    bits = bits * 2246822519 % 2**32
    return bits ^ bits >> 13


def signed(bits):
    return bits - 2**32 if bits >= 2**31 else bits


def uniform(k):
    return mixed(k) / 2**32 - 0.5


def large(k):
    return float(signed(mixed(k)) * 2 ** ((mixed(k) >> 5) % 32))


def cancelling(k):
    """Large elements, the same elements with the other sign in another order, and small ones."""
    if k < 400:
        return large(k)
    if k < 800:
        return -large(k * 7 % 400)
    return uniform(k)


def skewed(k):
    u = mixed(k) / 2**32
    return u * u * u * u * 100.0


def extreme(k):
    """Squares of most of these overflow or underflow."""
    return uniform(k) * 2.0 ** (1000 if k % 2 else -1000)


def tiny(k):
    return uniform(k) * 2.0**-800


FLOATS = {
    "uniform": uniform,
    "offset": lambda k: 1e9 + uniform(k),
    "skewed": skewed,
    "cancelling": cancelling,
    "extreme": extreme,
    "tiny": tiny,
}
# The size of the second array's noise, for the data sets that are also the first of two arrays.
PAIRED = {"uniform": 1.0, "offset": 0.25, "skewed": 20.0, "cancelling": 1.0, "bytes": 300.0, "words": 1e9}
INTEGERS = {
    "bytes": lambda k: mixed(k) >> 24,
    "words": lambda k: signed(mixed(k)),
}


def exact_norm(data):
    square = sum(Fraction(x) ** 2 for x in data)
    # 200 bits of the root, by the integer root of a scaled fraction.
    shift = 2400
    root = math.isqrt(int(square * 2 ** (2 * shift)))
    return float(Fraction(root, 2**shift))


def quantities(name, data):
    n = len(data)
    exact = [Fraction(x) for x in data]
    mean = sum(exact) / n
    yield "sum", float(sum(exact))
    yield "magnitude", float(sum(abs(x) for x in exact))
    yield "mean", float(mean)
    yield "min", min(data)
    yield "max", max(data)
    array = numpy.array(data)
    yield "argmin", int(numpy.argmin(array))
    yield "argmax", int(numpy.argmax(array))
    yield "norm", exact_norm(data)
    for place, index in enumerate(numpy.argsort(-array.astype(numpy.float64), kind="stable")[:5]):
        yield f"top{place}", int(index)
    if name in ("bytes", "words"):
        hashed = 0
        for x in data:
            hashed = (hashed * BASE + (x % 2**64) % MODULUS + 1) % MODULUS
        yield "hash", hashed
    if name in ("extreme", "tiny"):
        return
    array = array.astype(numpy.float64)
    yield "variance", float(sum((x - mean) ** 2 for x in exact) / n)
    if n > 1:
        yield "sample_variance", float(sum((x - mean) ** 2 for x in exact) / (n - 1))
    if n > 2 and name not in ("offset", "cancelling"):
        yield "skewness", float(skew(array))
        yield "kurtosis", float(kurtosis(array))
    if name in ("uniform", "skewed", "bytes"):
        yield "logsumexp", float(logsumexp(array))
        low, high = {"uniform": (-0.4, 0.4), "skewed": (0.0, 70.0), "bytes": (16.0, 240.0)}[name]
        counts, _ = numpy.histogram(array, bins=10, range=(low, high))
        for k, count in enumerate(counts):
            yield f"bin{k}", int(count)
        yield "below", int((array < low).sum())
        yield "above", int((array > high).sum())


def pair(name, k, x):
    """The second element and the weight of pair k."""
    return 0.5 * x + uniform(k + 5000) * PAIRED[name], mixed(k + 9000) / 2**32


def root(square):
    """The square root of a fraction from 0 to 1."""
    return math.isqrt(int(square * 2**400)) / 2**200


def quantities_of_pairs(name, data):
    n = len(data)
    pairs = [pair(name, k, x) for k, x in enumerate(data)]
    xs, ys, ws = [[Fraction(x) for x in xs] for xs in (data, *zip(*pairs))]
    products = [x * y for x, y in zip(xs, ys)]
    yield "dot", float(sum(products))
    yield "dot_magnitude", float(sum(map(abs, products)))
    yield "weighted_mean", float(sum(x * w for x, w in zip(xs, ws)) / sum(ws))
    yield "weighted_magnitude", float(sum(abs(x * w) for x, w in zip(xs, ws)) / sum(ws))
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    xx = sum((x - mean_x) ** 2 for x in xs)
    yy = sum((y - mean_y) ** 2 for y in ys)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
    yield "mean_y", float(mean_y)
    yield "variance_y", float(yy / n)
    yield "covariance", float(xy / n)
    if n == 1:
        return
    yield "sample_covariance", float(xy / (n - 1))
    slope, r_squared = xy / xx, xy * xy / (xx * yy)
    intercept = mean_y - slope * mean_x
    yield "slope", float(slope)
    yield "intercept", float(intercept)
    yield "r_squared", float(r_squared)
    correlation = math.copysign(root(r_squared), xy)
    yield "correlation", correlation
    # SciPy computes means and sums of floats, so some of its digits are those of the fractions.
    line = linregress(numpy.array(data, dtype=float), [y for y, _ in pairs])
    assert math.isclose(line.slope, slope, rel_tol=1e-6), (name, n)
    assert math.isclose(line.rvalue, correlation, rel_tol=1e-6), (name, n)


def main():
    print(f"# NumPy {numpy.__version__}, SciPy {scipy.__version__}, Python {sys.version.split()[0]}")
    print("data,elements,quantity,value")
    for name, element in {**FLOATS, **INTEGERS}.items():
        for n in (1, 2, 7, 1000):
            for quantity, value in quantities(name, [element(k) for k in range(n)]):
                print(f"{name},{n},{quantity},{value!r}")
            if name in PAIRED:
                for quantity, value in quantities_of_pairs(name, [element(k) for k in range(n)]):
                    print(f"{name},{n},{quantity},{value!r}")


main()
