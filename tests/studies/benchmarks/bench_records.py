"""A small comparison and the record of its run, for tests of runs and pages."""

from conformio.studies.benchmarks import Check, Comparison, Curve, Line, Outcome, SkippedError, Target, Timing
from conformio.studies.benchmarks.results import ratio


def works(settings):
    slow, fast = Timing("slow", (2.0, 4.0, 3.0), 10, 12.5), Timing("fast", (0.2, 0.1, 0.3), 100)
    lines = [
        ratio("work", slow, fast, Target("at least", 100.0, 200.0)),
        Line("memory", "-", 1234.5, 1234.5, 1234.5, "GiB", Target("at most", 4.0)),
        Line("free", "-", 0.5, 0.25, 1.0),
    ]
    curve = Curve("growth", "rows", (10, 1000), (0.1, 1.0), 0.5, 1, (None, 3.0))
    return Outcome(lines, [slow, fast], [Check("values", 1e-9, 1e-6)], [curve], {"rows": 10})


def differs(settings):
    return Outcome([Line("work", "-", 1.0, 1.0, 1.0, "s", Target("at most", 2.0))], checks=[Check("values", 1.0, 0.1)])


def skips(settings):
    raise SkippedError("peer is not installed; pip install peer")


def fails(settings):
    raise ZeroDivisionError("seven by nothing")


ALL = [
    Comparison("works", "One that works", works),
    Comparison("differs", "Other answers", differs),
    Comparison("skips", "One left out", skips),
    Comparison("fails", "One that fails", fails),
]
