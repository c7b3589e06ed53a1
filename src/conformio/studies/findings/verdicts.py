"""A finding: one claim, what the paper says, what was measured, the rule between them, and the verdict it gives.

Nobody writes a verdict: each follows from its rule and from the results alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "Verdict", "by_conditions", "corrected_or"]


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    CONDITIONAL = "reproduced under stated conditions"
    NOT_REPRODUCED = "not reproduced"
    CORRECTED = "corrected"
    CONFIRMED = "confirmed"
    CONFIRMED_CONDITIONAL = "confirmed under stated conditions"
    REFUTED = "refuted"


_LISTED = 6
_OF_OTHERS = {
    Verdict.REPRODUCED: Verdict.CONFIRMED,
    Verdict.CONDITIONAL: Verdict.CONFIRMED_CONDITIONAL,
    Verdict.NOT_REPRODUCED: Verdict.REFUTED,
}


@dataclass(frozen=True)
class Finding:
    """One claim and what became of it.

    Attributes
    ----------
    study : str
        The study that decided it.
    claim : str
        In our words.
    paper : str
        The paper's numbers; for claims that are not the paper's, who expects what.
    measured : str
        The numbers that the rule compares with them.
    rule : str
        By which the verdict was computed.
    verdict : Verdict
    conditions : str
        Under which it holds, and under which not; empty where it needs none.
    """

    study: str
    claim: str
    paper: str
    measured: str
    rule: str
    verdict: Verdict
    conditions: str = ""

    def of_ours(self) -> Finding:
        """The same as an expectation that is not the paper's: confirmed or refuted instead of reproduced."""
        verdict = _OF_OTHERS.get(self.verdict, self.verdict)
        return Finding(self.study, self.claim, self.paper, self.measured, self.rule, verdict, self.conditions)


def by_conditions(holds: Mapping[str, bool]) -> tuple[Verdict, str]:
    """The verdict of a claim that was looked at under several conditions, and in words where it holds.

    Parameters
    ----------
    holds : mapping of condition to bool
        At least one.
    """
    good = [name for name, fine in holds.items() if fine]
    bad = [name for name, fine in holds.items() if not fine]
    if not bad:
        return Verdict.REPRODUCED, ""
    if not good:
        return Verdict.NOT_REPRODUCED, f"Fails for {_listed(bad, len(bad) > _LISTED)}."
    long_good, long_bad = (len(one) > _LISTED and len(one) >= len(other) for one, other in ((good, bad), (bad, good)))
    return Verdict.CONDITIONAL, f"Holds for {_listed(good, long_good)}. Fails for {_listed(bad, long_bad)}."


def _listed(names: list[str], too_many: bool) -> str:
    if too_many:
        return f"{len(names)} conditions"
    return "; ".join(names)


def corrected_or(as_printed: bool, as_corrected: bool) -> Verdict:
    """The verdict of printed numbers for which the corrections give others.

    Reproduced where the results agree with what is printed, corrected where they agree with the corrected numbers
    alone.
    """
    if as_printed:
        return Verdict.REPRODUCED
    return Verdict.CORRECTED if as_corrected else Verdict.NOT_REPRODUCED
