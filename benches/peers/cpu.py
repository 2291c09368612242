"""What warpfold is measured beside on the CPU, as far as it is Python: NumPy, and PyTorch where there is one.

The data are those of operators.cuh, the columns those of timing.cuh. Rows of CSV go to the standard output; results
are compared, with those of warpfold if its CSV is given, before they are timed.
"""

import argparse
import sys
import time

import numpy
from report import Report, Subject

try:
    import torch
except ImportError:
    torch = None

CHUNK = 1 << 22


def mix(first, count):
    z = numpy.arange(first + 1, first + 1 + count, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def items_of(kind, count):
    items = numpy.empty(count, dtype=kind)
    for first in range(0, count, CHUNK):
        bits = mix(first, min(CHUNK, count - first))
        if items.dtype.kind == "f":
            bits = (bits >> numpy.uint64(40)).astype(numpy.int64) % 3 - 1
        items[first : first + CHUNK] = bits.astype(kind)
    return items


def times_of(call):
    """Microseconds of some calls, about a second's worth."""
    call()
    begin, times = time.perf_counter(), []
    while len(times) < 9 or (len(times) < 101 and time.perf_counter() - begin < 1):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    return times


def calls(operator, items):
    """Who, and a call that gives a scalar of the items' type, wherever there is one."""
    if operator == "sum":
        yield "numpy", lambda: items.sum(dtype=items.dtype)
    else:
        yield "numpy", getattr(items, operator)
    if torch is None:
        return
    tensor = torch.from_numpy(items)
    if operator == "sum":
        yield "pytorch-cpu", lambda: tensor.sum(dtype=tensor.dtype).item()
    else:
        yield "pytorch-cpu", lambda: getattr(tensor, operator)().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", help="the CSV of `figures --cpu`")
    parser.add_argument("--sizes", default="30", help="powers of two of bytes")
    arguments = parser.parse_args()
    report = Report(arguments.results, "warpfold-cpu")
    for item, kind in (("f32", "f4"), ("f64", "f8"), ("i32", "i4"), ("u8", "u1")):
        for exponent in map(int, arguments.sizes.split(",")):
            size = 1 << exponent
            items = items_of(numpy.dtype(kind), size // numpy.dtype(kind).itemsize)
            for operator in ("sum", "min", "max"):
                for who, call in calls(operator, items):
                    result = numpy.asarray(call(), dtype=kind).tobytes().hex()
                    subject = Subject(operator, item, items.itemsize, size)
                    if report.is_right(who, subject, result):
                        report.row(who, subject, "cpu", times_of(call), result)
    if torch is None:
        print("cpu.py: PyTorch was not measured: it is not installed", file=sys.stderr)
    return report.wrong


if __name__ == "__main__":
    sys.exit(main())
