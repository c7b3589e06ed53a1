"""The studies of a reproduction: what each computes in full and at a quick look, how it is judged, how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from conformio.checks import as_index
from conformio.studies import ablations, robustness, sensitivity, split, table1, timing, validity
from conformio.studies.cell_store import Row
from conformio.studies.conditions import BASE_LAW
from conformio.studies.engine import Cell
from conformio.studies.evidence import ablations as ablations_shown
from conformio.studies.evidence import robustness as robustness_shown
from conformio.studies.evidence import sensitivity as sensitivity_shown
from conformio.studies.evidence import split as split_shown
from conformio.studies.evidence import table1 as table1_shown
from conformio.studies.evidence import timing as timing_shown
from conformio.studies.evidence import validity as validity_shown
from conformio.studies.evidence.sections import Section
from conformio.studies.findings import ablations as ablations_judged
from conformio.studies.findings import robustness as robustness_judged
from conformio.studies.findings import sensitivity as sensitivity_judged
from conformio.studies.findings import split as split_judged
from conformio.studies.findings import table1 as table1_judged
from conformio.studies.findings import timing as timing_judged
from conformio.studies.findings import validity as validity_judged
from conformio.studies.findings.summaries import summarized

__all__ = ["STUDIES", "Settings", "Study"]

_WHERE = "reproduce"
_QUICK_PEOPLE = 300


@dataclass(frozen=True)
class Settings:
    """How large the studies are.

    Attributes
    ----------
    seeds : int
        Repetitions with other people, at least 2: ranges and spreads are over seeds.
    quick : bool
        Fewer people and conditions; for a first look.
    """

    seeds: int = 10
    quick: bool = False

    def __post_init__(self) -> None:
        as_index(self.seeds, "seeds", _WHERE, low=2)


@dataclass(frozen=True)
class Study:
    """One study: what to compute, how to judge it, how to show it.

    Attributes
    ----------
    cells : callable
        Settings to cells.
    judged, shown : module
        Of `findings` and of `evidence`.
    spread : bool
        Whether ranges and spreads over seeds are kept beside means.
    """

    cells: Callable[[Settings], list[Cell]]
    judged: ModuleType
    shown: ModuleType
    spread: bool = True

    def summary(self, rows: Sequence[Row]) -> list[Row]:
        """Results over seeds."""
        return summarized(rows, self.judged.LABELS, self.spread)

    def section(self, name: str, summary: Sequence[Row]) -> Section:
        """What is shown of the results over seeds."""
        return Section(
            name=name,
            title=self.shown.TITLE,
            words=self.shown.WORDS,
            findings=tuple(self.judged.findings(summary)),
            tables=self.shown.tables(summary),
            figures=self.shown.figures(summary),
        )


def _people(settings: Settings) -> int:
    return _QUICK_PEOPLE if settings.quick else 1000


def _validity_cells(settings: Settings) -> list[Cell]:
    return validity.cells(settings.seeds, 120, 300) if settings.quick else validity.cells(settings.seeds)


def _split_cells(settings: Settings) -> list[Cell]:
    return split.cells(settings.seeds, (160, 320, 640)) if settings.quick else split.cells(settings.seeds)


def _sensitivity_cells(settings: Settings) -> list[Cell]:
    if settings.quick:
        return sensitivity.cells(settings.seeds, _QUICK_PEOPLE, (BASE_LAW, "log-normal"), (BASE_LAW,))
    return sensitivity.cells(settings.seeds)


STUDIES: Mapping[str, Study] = {
    "table1": Study(lambda s: table1.cells(s.seeds), table1_judged, table1_shown),
    "validity": Study(_validity_cells, validity_judged, validity_shown),
    "robustness": Study(lambda s: robustness.cells(s.seeds, _people(s)), robustness_judged, robustness_shown),
    "timing": Study(lambda s: timing.cells(s.seeds, _people(s)), timing_judged, timing_shown),
    "split": Study(_split_cells, split_judged, split_shown),
    "sensitivity": Study(_sensitivity_cells, sensitivity_judged, sensitivity_shown, spread=False),
    "ablations": Study(lambda s: ablations.cells(s.seeds, _people(s)), ablations_judged, ablations_shown),
}
