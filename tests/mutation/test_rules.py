"""Each certificate and tie rule matters: with the rule taken out of a copy of the library, a named test fails."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutation:
    """One rule: where it stands, what replaces it, and the tests that must notice."""

    file: str
    rule: str
    without: str
    tests: str

    def __str__(self) -> str:
        return f"{self.file}: {self.rule.strip().splitlines()[0][:60]}"


MUTATIONS = [
    Mutation(  # the rank in exact arithmetic
        "ranks.py",
        "math.ceil(exact_level(confidence_level, where) * (n + 1))",
        "math.ceil(float(exact_level(confidence_level, where)) * (n + 1))",
        "calibration/test_quantile.py",
    ),
    Mutation(  # E4: an empty projection is pi
        "calibration/projections.py",
        "angles[self.lengths <= NO_EXPLANATION] = np.pi",
        "pass",
        "test_corrections.py::test_e4_an_empty_projection_is_pi_not_half_pi",
    ),
    Mutation(  # an unproven angle takes the slow exact route
        "calibration/batches.py",
        "np.flatnonzero(~projections.certified[settled])",
        "np.empty(0, np.int64)",
        "calibration/test_path_angles.py::test_doubtful_rows_take_the_reference_route",
    ),
    Mutation(  # alpha -> 0+: ties of the nominal problem go to the decision with fewest ones
        "prescription/hop_count.py",
        "max(task.reach, TIE_ANGLE)",
        "task.reach",
        "test_corrections.py::test_e5_prescriptions_do_not_jump_at_zero",
    ),
    Mutation(  # alpha -> 0+ on polytopes: the least-norm point of the optimal face
        "prescription/conic.py",
        "if self.task.cap.angle <= TIE_ANGLE or short",
        "if self.task.cap.angle < 0 and short",
        "prescription/test_polyhedra.py",
    ),
    Mutation(  # the hull is not pruned above the incumbent
        "prescription/hull.py",
        "bound >= self.best.loss - _PRUNE",
        "bound >= self.best.loss - 0.1",
        "prescription/test_parametric.py",
    ),
    Mutation(  # a trip is placed above the quantile only by proof
        "_kernels/path_cones.py",
        "total += gain * gain / (edges + after - before)",
        "total += gain * gain",
        "calibration/test_level.py::test_placed_rows_lie_where_they_are_placed",
    ),
    Mutation(  # every edge of a detour no dearer than the path is looked at
        "_kernels/regions.py",
        "if forward[tail] + further > limit or",
        "if forward[tail] + further > 0.995 * limit or",
        "calibration/test_large_networks.py",
    ),
    Mutation(  # what the hull leaves open behind an oracle is branched on
        "prescription/branching.py",
        "self._open[0][0] < self._enough() and self.calls",
        "self._open[0][0] < -1e300 and self.calls",
        "prescription/test_branching.py",
    ),
    Mutation(  # a decision outside X(u) never passes as explained
        "calibration/batches.py",
        "rows = np.flatnonzero(problem.feasible(decisions, contexts))",
        "rows = np.arange(len(contexts))",
        "calibration/test_oracle_angles.py::test_infeasible_decisions_are_named_or_kept_at_pi",
    ),
]


def run(source: Path, tests: str) -> int:
    environment = dict(os.environ, PYTHONPATH=str(source), PYTHONDONTWRITEBYTECODE="1")
    where = [str(ROOT / "tests" / name) for name in tests.split()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *where]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode


def copied(folder: Path) -> Path:
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    return folder / "src"


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_the_rule_is_tested(mutation, tmp_path):
    source = copied(tmp_path)
    path = source / "conformio" / mutation.file
    text = path.read_text(encoding="utf-8")
    assert text.count(mutation.rule) == 1
    path.write_text(text.replace(mutation.rule, mutation.without), encoding="utf-8")
    assert run(source, mutation.tests) == 1


@pytest.mark.slow
def test_an_unchanged_copy_passes_and_is_the_one_tested(tmp_path):
    source = copied(tmp_path)
    assert run(source, "calibration/test_quantile.py") == 0
    (source / "conformio" / "ranks.py").write_text("raise ImportError('the copy is used')\n", encoding="utf-8")
    assert run(source, "calibration/test_quantile.py") != 0
