"""What warpfold is measured beside, as far as it is Python: PyTorch and CuPy.

The data are those of operators.cuh, the times and the columns those of timing.cuh. Rows of CSV go to the standard
output; results are compared with those that peers.cu wrote, before they are timed.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

os.environ["CUPY_ACCELERATORS"] = "cub"

import cupy
import numpy
import torch
from report import Report, Subject

START = time.perf_counter()
MIB = 1 << 20
COLD_BYTES = 256 * MIB
MOST_CALLS = 2000
# Seconds. A peer whose call takes longer is left out.
MOST_SECONDS = 0.25

ALL_SIZES = [1 << exponent for exponent in range(10, 35)]
SOME_SIZES = [1 << exponent for exponent in (10, 14, 18, 20, 22, 24, 26, 28, 30, 32, 34)]
AGGREGATE_SIZES = [1 << exponent for exponent in (12, 16, 20, 24, 28, 30)]
QUICK_SIZES = [1 << exponent for exponent in (10, 20, 22, 26, 28, 30)]

MIX = """
    unsigned long long z = (unsigned long long)(i % lanes + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    const int high = (int)((z ^ (z >> 31)) >> 40);
"""
SIGN = cupy.ElementwiseKernel(
    "int64 lanes", "float32 lane", MIX + "lane = (float)(high % 3 - 1);", "fill_sign"
)
UNIFORM = cupy.ElementwiseKernel(
    "int64 lanes", "float32 lane", MIX + "lane = (float)high * (1.0f / 8388608.0f) - 1.0f;", "fill_uniform"
)


def progress(text):
    print(f"[{time.perf_counter() - START:6.1f} s] {text}", file=sys.stderr, flush=True)


def views_of(size):
    return min(MOST_CALLS, max(-(-COLD_BYTES // size), 2 if is_short(size) else 1))


def calls_of(size):
    return max(2, min(MOST_CALLS, int(4000 / (6 + size / 4e6))))


def is_short(size):
    return size < 4 << 30


class Stream:
    """One CUDA stream, as both libraries see it."""

    def __init__(self):
        self.cupy = cupy.cuda.Stream(non_blocking=True)
        self.torch = torch.cuda.ExternalStream(self.cupy.ptr)
        self.other = torch.zeros(COLD_BYTES // 4, dtype=torch.int32, device="cuda")
        torch.cuda.synchronize()

    def evict(self):
        """Reads something else, so that no view is found in the cache."""
        self.other.max()

    def capture_with_pytorch(self, work):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.torch):
            work()
        return graph.replay

    def capture_with_cupy(self, work):
        self.cupy.begin_capture()
        try:
            work()
        finally:
            graph = self.cupy.end_capture()
        return lambda: graph.launch(self.cupy)


@dataclass
class Peer:
    who: str
    views: list
    on_device: Callable  # of a view; leaves its result there
    on_host: Callable  # of a view; gives its result when the host has it
    capture: Callable  # of work, which it records; gives what replays it


def graph_times(stream, launch, calls, size):
    """Microseconds per call; `launch()` puts all calls on the stream."""
    samples = []
    warm_up, timed = 2, 15 if is_short(size) else 5
    for index in range(warm_up + timed):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        stream.evict()
        start.record(stream.torch)
        launch()
        stop.record(stream.torch)
        stop.synchronize()
        if index >= warm_up:
            samples.append(start.elapsed_time(stop) * 1e3 / calls)
    return samples


def host_times(stream, call, size):
    """Microseconds of `call(i)`, which returns when the host has the result."""
    warm_up = 3
    timed = 1001 if size <= 16 << 20 else 101 if size < COLD_BYTES else 15 if is_short(size) else 5
    for index in range(warm_up):
        call(index)
    stream.evict()
    stream.torch.synchronize()
    samples = []
    for index in range(timed):
        start = time.perf_counter()
        call(warm_up + index)
        samples.append((time.perf_counter() - start) * 1e6)
    return samples


def measure(report, stream, subject, peer):
    views, size = peer.views, subject.bytes
    result = numpy.asarray(peer.on_host(views[0]), dtype=numpy.float32).tobytes().hex()
    if not report.is_right(peer.who, subject, result):
        return
    start = time.perf_counter()
    peer.on_host(views[-1])
    seconds = time.perf_counter() - start
    if seconds > MOST_SECONDS:
        progress(f"left out: {peer.who}, {subject}: {seconds:.2f} s a call")
        return
    times = host_times(stream, lambda index: peer.on_host(views[index % len(views)]), size)
    report.row(peer.who, subject, "host", times, result)
    calls = calls_of(size)

    def work():
        for index in range(calls):
            peer.on_device(views[index % len(views)])

    try:
        launch = peer.capture(work)
    except Exception as error:  # What cannot be captured has its time on the host alone.
        progress(f"no graph: {peer.who}, {subject}: {error}")
        return
    report.row(peer.who, subject, "graph", graph_times(stream, launch, calls, size), result)


def total(view):
    return view.sum()


def total_on_host(view):
    return view.sum().item()


def farthest(points):
    return points.index_select(0, (points * points).sum(1).argmax().view(1))


def farthest_on_host(points):
    return farthest(points).cpu()


def measure_sums(report, stream, arena, sizes):
    for size in sizes:
        progress(f"sum of f32, {size} bytes")
        tables = tables_of(SIGN, arena, size)
        subject = Subject("sum", "f32", 4, size)
        views = list(torch.from_dlpack(tables))
        pytorch = Peer("pytorch", views, total, total_on_host, stream.capture_with_pytorch)
        measure(report, stream, subject, pytorch)
        measure(
            report,
            stream,
            subject,
            Peer("cupy", list(tables), total, total_on_host, stream.capture_with_cupy),
        )
        torch.cuda.empty_cache()


def measure_farthest(report, stream, arena, sizes):
    for size in sizes:
        progress(f"max-by-norm of f32x3, {size} bytes")
        points = torch.from_dlpack(tables_of(UNIFORM, arena, size))[:, : size // 12 * 3]
        views = [table.view(-1, 3) for table in points]
        peer = Peer("pytorch", views, farthest, farthest_on_host, stream.capture_with_pytorch)
        measure(report, stream, Subject("max-by-norm", "f32x3", 12, size), peer)
        torch.cuda.empty_cache()


def six(view):
    return view.sum(), view.amin(), view.amax(), view.argmax(), view.mean(), torch.var_mean(view)


# The aggregates of f32 that PyTorch has. `six` are several calls, one after another.
AGGREGATES = {
    "mean": lambda view: view.mean(),
    "argmax": lambda view: view.argmax(),
    "variance": lambda view: torch.var_mean(view),
    "log-sum-exp": lambda view: view.logsumexp(0),
    "count if": lambda view: torch.count_nonzero(view > 0),
    "dot product": lambda view: torch.dot(*view.view(2, -1)),
    "six": six,
}


def measure_aggregates(report, stream, arena, sizes):
    for size in sizes:
        progress(f"aggregates of f32, {size} bytes")
        views = list(torch.from_dlpack(tables_of(UNIFORM, arena, size)))
        calls = calls_of(size)
        for name, aggregate in AGGREGATES.items():
            aggregate(views[0])

            def work(aggregate=aggregate, views=views, calls=calls):
                for index in range(calls):
                    aggregate(views[index % len(views)])

            launch = stream.capture_with_pytorch(work)
            times = graph_times(stream, launch, calls, size)
            report.row("pytorch", Subject(name, "f32", 4, size), "graph", times, "-")
            del launch
            torch.cuda.empty_cache()


# Reductions of each row that PyTorch has.
BY_ROWS = {
    "sum": lambda matrix: matrix.sum(1),
    "argmax": lambda matrix: matrix.argmax(1),
    "variance": lambda matrix: torch.var_mean(matrix, 1),
    "log-sum-exp": lambda matrix: matrix.logsumexp(1),
    "min max and mean": lambda matrix: (matrix.amin(1), matrix.amax(1), matrix.mean(1)),
}
COLUMNS = [2, 3, 4, 5, 7, 8, 10, 16, 32, 33, 64, 100, 128, 256, 1000, 1024, 5120, 100_003, 1 << 20, 1 << 24, 1 << 28]
SMALL = [(rows, columns) for columns in (10, 1000, 10_000) for rows in (1, 10, 100, 1000)]


def measure_rows(report, stream, arena):
    shapes = [((1 << 28) // columns, columns) for columns in COLUMNS]
    for rows, columns in shapes + SMALL:
        size = 4 * rows * columns
        progress(f"{rows} rows of {columns}")
        lanes = size // 4
        words = arena[: views_of(size) * lanes]
        UNIFORM(lanes, words)
        views = [view.view(rows, columns) for view in torch.from_dlpack(words.reshape(-1, lanes))]
        calls = calls_of(size)
        for name, by_rows in BY_ROWS.items() if (rows, columns) not in SMALL else [("sum", BY_ROWS["sum"])]:
            by_rows(views[0])

            def work(by_rows=by_rows, views=views, calls=calls):
                for index in range(calls):
                    by_rows(views[index % len(views)])

            launch = stream.capture_with_pytorch(work)
            times = graph_times(stream, launch, calls, size)
            report.row("pytorch", Subject(f"{name} by rows of {columns}", "f32", 4, size), "graph", times, "-")
            del launch
            torch.cuda.empty_cache()


BY_COLUMNS = {
    "sum": lambda matrix: matrix.sum(0),
    "argmax": lambda matrix: matrix.argmax(0),
    "variance": lambda matrix: torch.var_mean(matrix, 0),
}


def measure_columns(report, stream, arena):
    size = 1 << 30
    for columns in (16, 1 << 14, 1 << 24):
        progress(f"{columns} columns")
        views = [view.view(-1, columns) for view in torch.from_dlpack(tables_of(UNIFORM, arena, size))]
        for name, by_columns in BY_COLUMNS.items():
            by_columns(views[0])

            def work(by_columns=by_columns, views=views):
                for index in range(calls_of(size)):
                    by_columns(views[index % len(views)])

            launch = stream.capture_with_pytorch(work)
            times = graph_times(stream, launch, calls_of(size), size)
            report.row("pytorch", Subject(f"{name} by {columns} columns", "f32", 4, size), "graph", times, "-")
            del launch
            torch.cuda.empty_cache()


def tables_of(fill, arena, size):
    """Copies of one input, which calls go round: a row each."""
    lanes = size // 4
    words = arena[: views_of(size) * lanes]
    fill(lanes, words)
    return words.reshape(-1, lanes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", help="the CSV that peers.cu wrote")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--aggregates", action="store_true", help="the aggregates alone")
    parser.add_argument("--rows", action="store_true", help="the rows and columns of matrices alone")
    arguments = parser.parse_args()
    report = Report(arguments.results)
    free, _ = torch.cuda.mem_get_info()
    # The products of the points, and their sum, need twice the input's memory in addition.
    fitting = [size for size in ALL_SIZES if 4 * max(size, COLD_BYTES) + 1024 * MIB < free]
    every = [size for size in fitting if size in QUICK_SIZES or not arguments.quick]
    some = [size for size in every if size in SOME_SIZES]
    progress(f"PyTorch {torch.__version__}, CuPy {cupy.__version__}")
    stream = Stream()
    with torch.cuda.stream(stream.torch), stream.cupy:
        arena = cupy.empty(max(size * views_of(size) for size in every) // 4, dtype=cupy.float32)
        if arguments.rows:
            measure_rows(report, stream, arena)
            measure_columns(report, stream, arena)
            progress("done")
            return False
        if not arguments.aggregates:
            measure_sums(report, stream, arena, every)
            measure_farthest(report, stream, arena, some)
        measure_aggregates(report, stream, arena, [size for size in every if size in AGGREGATE_SIZES])
    progress("done; some results are wrong" if report.wrong else "done")
    return report.wrong


if __name__ == "__main__":
    sys.exit(main())
