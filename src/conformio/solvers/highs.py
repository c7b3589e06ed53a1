"""The one door to HiGHS: linear and mixed-integer models that are built once and then only changed.

A model is `optimize costs . x` over `row_lower <= A x <= row_upper`, `lower <= x <= upper`, some `x` whole.
Costs, sides and bounds may change between solves and rows may be added; the simplex basis stays warm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, FloatArray, Sense
from conformio.errors import InfeasibleProblemError, SolverError, UnboundedProblemError

__all__ = ["HighsModel", "HighsSolution"]

_FEASIBILITY = 1e-9
_FLAT = 1e-7
_NO_ADVICE_LEFT = "the solver stopped with status {status}; rescale the data or loosen the problem"


def _library() -> Any:
    """HiGHS, loaded by the first model: most programs never build one, and others bring a HiGHS of their own."""
    import highspy

    return highspy


@dataclass(frozen=True)
class HighsSolution:
    """An optimal point: `value` its objective, `bound` what was proved, duals for linear models only."""

    x: FloatArray
    value: float
    bound: float
    row_duals: FloatArray
    reduced_costs: FloatArray


class HighsModel:
    """One HiGHS model, kept warm between solves.

    Parameters
    ----------
    matrix : scipy.sparse array, shape (m, n)
    row_lower, row_upper : arrays, shape (m,)
    lower, upper : arrays, shape (n,)
    integrality : bool array, shape (n,), optional
    sense : {"min", "max"}
    where : str
        Named in the errors this model raises.
    forgetful : bool
        Among tied optima of a linear model the warm basis decides, so the answer would hang on what was solved
        before. With True such optima are solved again from a cold start; a unique optimum needs no second solve.
    whole_gap : float
        Relative gap at which models with whole variables may stop.
    seconds : float
        After so many a solve is given up with a `SolverError`.
    """

    def __init__(
        self,
        matrix: Any,
        row_lower: FloatArray,
        row_upper: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        integrality: BoolArray | None = None,
        sense: Sense = "min",
        where: str = "HighsModel",
        forgetful: bool = False,
        whole_gap: float = 0.0,
        seconds: float = np.inf,
    ):
        self.n_rows, self.n_vars = matrix.shape
        self.whole = integrality is not None and bool(integrality.any())
        self.where = where
        self._forgetful = forgetful and not self.whole
        self._columns = np.arange(self.n_vars, dtype=np.int32)
        self._highs = _library().Highs()
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "primal_feasibility_tolerance": _FEASIBILITY,
            "dual_feasibility_tolerance": _FEASIBILITY,
            "mip_feasibility_tolerance": _FEASIBILITY,
            "small_matrix_value": 1e-12,  # HiGHS drops smaller entries without a word; its default is 1e-9
            "mip_rel_gap": whole_gap,
            "mip_abs_gap": 1e-9,
            "time_limit": seconds,
        }.items():
            self._highs.setOptionValue(option, value)
        self._highs.passModel(_as_lp(matrix, row_lower, row_upper, lower, upper, integrality, sense))

    def solve(
        self,
        costs: FloatArray | None = None,
        row_lower: FloatArray | None = None,
        row_upper: FloatArray | None = None,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
        row: int | None = None,
    ) -> HighsSolution:
        """Change what is named, solve, and return a proven optimum.

        `row` is the caller's row, named in the error when there is no optimum.
        """
        if costs is not None:
            self._highs.changeColsCost(self.n_vars, self._columns, costs)
        if row_lower is not None and row_upper is not None and len(row_lower):
            rows = np.arange(len(row_lower), dtype=np.int32)
            self._highs.changeRowsBounds(len(rows), rows, row_lower, row_upper)
        if lower is not None and upper is not None:
            self._highs.changeColsBounds(self.n_vars, self._columns, lower, upper)
        if self.whole:
            # an earlier incumbent would make the answer depend on the order of calls
            self._highs.clearSolver()
        self._highs.run()
        if self._forgetful and not self._is_unique():
            self._highs.clearSolver()
            self._highs.run()
        kinds = _library().HighsModelStatus
        status = self._highs.getModelStatus()
        if status not in (kinds.kOptimal, kinds.kModelEmpty, kinds.kTimeLimit):
            status = self._run_cold()
        if status not in (kinds.kOptimal, kinds.kModelEmpty):
            raise self._failure(status, row)
        return self._read()

    def add_row(self, low: float, high: float, coefficients: FloatArray) -> None:
        """Append the constraint `low <= coefficients . x <= high`."""
        entries = np.flatnonzero(coefficients).astype(np.int32)
        self._highs.addRow(low, high, len(entries), entries, coefficients[entries])
        self.n_rows += 1

    def add_rows(self, low: FloatArray, high: FloatArray, matrix: Any) -> None:
        """Append the constraints `low <= matrix x <= high`; `matrix` is CSR with one column per variable."""
        starts, entries = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
        self._highs.addRows(matrix.shape[0], low, high, matrix.nnz, starts, entries, matrix.data)
        self.n_rows += matrix.shape[0]

    def exclude(self, point: FloatArray) -> None:
        """Append the constraint that, of all 0/1 values of the first variables, `point` alone violates."""
        signs = np.zeros(self.n_vars)
        signs[: len(point)] = np.where(point > 0.5, 1.0, -1.0)
        self.add_row(-np.inf, float((point > 0.5).sum()) - 1.0, signs)

    def truncate_rows(self, n_rows: int) -> None:
        """Drop every row after the first `n_rows`."""
        if self.n_rows > n_rows:
            rows = np.arange(n_rows, self.n_rows, dtype=np.int32)
            self._highs.deleteRows(len(rows), rows)
            self.n_rows = n_rows

    def restart(self) -> None:
        """Forget the last basis: among ties the next answer no longer depends on what was solved before."""
        self._highs.clearSolver()

    def _is_unique(self) -> bool:
        """Whether the optimum is the only one: leaving it along any nonbasic variable or row costs something."""
        if self._highs.getModelStatus() != _library().HighsModelStatus.kOptimal:
            return False
        solution = self._highs.getSolution()
        n_flat = sum(int((np.abs(np.asarray(dual)) <= _FLAT).sum()) for dual in (solution.col_dual, solution.row_dual))
        if n_flat == self.n_rows:  # as many as are basic, so none else
            return True
        basis, lp, basic = self._highs.getBasis(), self._highs.getLp(), _library().HighsBasisStatus.kBasic
        sides = (
            (basis.col_status, solution.col_dual, lp.col_lower_, lp.col_upper_),
            (basis.row_status, solution.row_dual, lp.row_lower_, lp.row_upper_),
        )
        for status, dual, low, high in sides:
            movable = np.array([kind != basic for kind in status], dtype=np.bool_) & (
                np.asarray(low) < np.asarray(high)
            )
            if (np.abs(np.asarray(dual)[movable]) <= _FLAT).any():
                return False
        return True

    def _run_cold(self) -> Any:
        """Second opinion without presolve and without the old basis: tells infeasible from unbounded."""
        self._highs.clearSolver()
        self._highs.setOptionValue("presolve", "off")
        self._highs.run()
        self._highs.setOptionValue("presolve", "choose")
        return self._highs.getModelStatus()

    def _failure(self, status: Any, row: int | None) -> Exception:
        kinds = _library().HighsModelStatus
        if status == kinds.kInfeasible:
            return InfeasibleProblemError(self.where, "no decision satisfies the constraints; check this context", row)
        if status in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            reason = "the objective is unbounded over the feasible set; bound the variables or restrict theta"
            return UnboundedProblemError(self.where, reason, row)
        name = self._highs.modelStatusToString(status)
        return SolverError(self.where, _NO_ADVICE_LEFT.format(status=name), row)

    def _read(self) -> HighsSolution:
        solution, info = self._highs.getSolution(), self._highs.getInfo()
        value = float(info.objective_function_value)
        return HighsSolution(
            x=np.array(solution.col_value),
            value=value,
            bound=float(info.mip_dual_bound) if self.whole else value,
            row_duals=np.array(solution.row_dual),
            reduced_costs=np.array(solution.col_dual),
        )


def _as_lp(
    matrix: Any,
    row_lower: FloatArray,
    row_upper: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    integrality: BoolArray | None,
    sense: Sense,
) -> Any:
    highspy, matrix = _library(), sparse.csr_array(matrix)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.sense_ = highspy.ObjSense.kMinimize if sense == "min" else highspy.ObjSense.kMaximize
    lp.col_cost_ = np.zeros(matrix.shape[1])
    lp.col_lower_, lp.col_upper_ = lower, upper
    lp.row_lower_, lp.row_upper_ = row_lower, row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    if integrality is not None and integrality.any():
        kinds = highspy.HighsVarType
        lp.integrality_ = [kinds.kInteger if whole else kinds.kContinuous for whole in integrality]
    return lp
