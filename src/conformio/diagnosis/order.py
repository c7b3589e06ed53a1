"""Which questions are asked of a fitted pipeline, in the order they are read."""

from __future__ import annotations

from conformio.diagnosis.calibration_set import size_finding, split_finding, ties_finding, unexplained_finding
from conformio.diagnosis.evidence import Evidence
from conformio.diagnosis.findings import Diagnosis
from conformio.diagnosis.identifiability import identifiability_finding
from conformio.diagnosis.other_decisions import coverage_finding, exchangeability_finding, infeasible_finding

__all__ = ["findings_of"]

_QUESTIONS = (
    infeasible_finding,
    coverage_finding,
    exchangeability_finding,
    size_finding,
    split_finding,
    ties_finding,
    unexplained_finding,
    identifiability_finding,
)


def findings_of(evidence: Evidence) -> Diagnosis:
    """Ask every question."""
    return Diagnosis(tuple(ask(evidence) for ask in _QUESTIONS))
