"""Rows of CSV, with the columns of timing.cuh, and the comparison of results before they are timed."""

import csv
import statistics
import sys
from dataclasses import dataclass


@dataclass
class Subject:
    operator: str
    item: str
    item_bytes: int
    bytes: int


class Report:
    """Writes rows to the standard output, and compares results with those of a CSV: of all in it, or of one."""

    def __init__(self, path=None, who=None):
        self.expected, self.wrong = {}, False
        if path is None:
            return
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if row["result"] != "-" and who in (None, row["who"]):
                    self.expected.setdefault((row["operator"], row["item"], int(row["bytes"])), row["result"])

    def is_right(self, who, subject, result):
        expected = self.expected.setdefault((subject.operator, subject.item, subject.bytes), result)
        if result != expected:
            print(f"WRONG: {who}, {subject}: {result}, not {expected}", file=sys.stderr)
            self.wrong = True
        return result == expected

    def row(self, who, subject, kind, samples, result):
        samples = sorted(samples)
        low, high = (samples[int(part * (len(samples) - 1) + 0.5)] for part in (0.1, 0.9))
        print(
            f"{who},{subject.operator},{subject.item},{subject.item_bytes},{subject.bytes},0,{kind},"
            f"{statistics.median(samples):.3f},{low:.3f},{high:.3f},{len(samples)},{result}",
            flush=True,
        )
