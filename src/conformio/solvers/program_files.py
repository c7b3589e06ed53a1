"""Reading linear and integer programs from `.mps` and `.lp` files, by HiGHS."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from conformio.checks import BoolArray, FloatArray, Sense
from conformio.errors import InvalidInputError, invalid

__all__ = ["ProgramFile", "read_program"]

_SUFFIXES = (".mps", ".lp")


@dataclass(frozen=True, eq=False)
class ProgramFile:
    """`optimize costs . x` over `row_lower <= matrix x <= row_upper`, `lower <= x <= upper`, some `x` whole.

    Attributes
    ----------
    matrix : CSR, shape (m, n)
    row_lower, row_upper : arrays, shape (m,)
    lower, upper, costs : arrays, shape (n,)
    integrality : bool array, shape (n,)
    sense : {"min", "max"}
    rows, columns : lists of str
        Their names.
    """

    matrix: Any
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    costs: FloatArray
    integrality: BoolArray
    sense: Sense
    rows: list[str]
    columns: list[str]


def read_program(path: str | PathLike[str], where: str) -> ProgramFile:
    """Read a model file.

    Raises
    ------
    InvalidInputError
        If the file is missing or not understood without a warning, has no variables, or holds what is not linear.
    """
    file = Path(path)
    if file.suffix.lower() not in _SUFFIXES:
        raise invalid("path", where, "must be a .mps or .lp file", file)
    if not file.is_file():
        remedy = "Check the name; a relative one starts at the working directory"
        raise invalid("path", where, f"{file}: must be a readable model", "no such file", remedy=remedy)
    import highspy  # when a file is read, not with the package

    types = highspy.HighsVarType
    model = _read(file, where)
    if file.suffix.lower() == ".mps":
        _check_numbers(file, where)
    lp = model.lp_
    kinds = list(lp.integrality_) or [types.kContinuous] * lp.num_col_
    if not lp.num_col_:
        raise _refused(file, where, "must hold variables", "none", "Check that the file is of the format its name says")
    if model.hessian_.dim_:
        raise _refused(file, where, "must have a linear objective", "a quadratic one", "")
    if types.kSemiContinuous in kinds or types.kSemiInteger in kinds:
        raise _refused(file, where, "must hold continuous and whole variables only", "semi-continuous ones", "")
    start, index, value = (np.array(part) for part in (lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_))
    matrix = sparse.csc_array((value, index, start), shape=(lp.num_row_, lp.num_col_))
    return ProgramFile(
        matrix=sparse.csr_array(matrix),
        row_lower=np.array(lp.row_lower_),
        row_upper=np.array(lp.row_upper_),
        lower=np.array(lp.col_lower_),
        upper=np.array(lp.col_upper_),
        costs=np.array(lp.col_cost_),
        integrality=np.array([kind != types.kContinuous for kind in kinds]),
        sense="max" if lp.sense_ == highspy.ObjSense.kMaximize else "min",
        rows=list(lp.row_names_) or [f"row{k}" for k in range(lp.num_row_)],
        columns=list(lp.col_names_) or [f"x{k}" for k in range(lp.num_col_)],
    )


def _read(file: Path, where: str) -> Any:
    import highspy

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        highs = highspy.Highs()
        highs.setOptionValue("log_to_console", False)
        highs.setOptionValue("log_file", str(log))
        status = highs.readModel(str(file))
        highs.setOptionValue("log_file", "")
        said = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.exists() else []
    if status != highspy.HighsStatus.kOk:
        reasons = " ".join(line.strip() for line in said if line.startswith(("ERROR", "WARNING")))
        raise _refused(
            file, where, "must be a model that is read without a warning", reasons or "no model", "Correct it"
        )
    return highs.getModel()


def _check_numbers(file: Path, where: str) -> None:
    """Refuse words where numbers belong: the reader takes them for 0 without a warning."""
    section = ""
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").split("\n"), start=1):
        fields = line.split()
        if not fields or line.startswith(("*", "$")):
            continue
        if not line[0].isspace():
            section = fields[0].upper()
            continue
        for field in _numbers_of(section, fields):
            try:
                float(field.replace("D", "e").replace("d", "e"))
            except ValueError as error:
                rule = f"line {number}: must have a number here"
                raise _refused(file, where, rule, repr(field), "Correct it") from error


def _numbers_of(section: str, fields: list[str]) -> list[str]:
    """The fields of a line that must be numbers; none where names may hold spaces and so cannot be told apart."""
    if section in ("COLUMNS", "RHS", "RANGES") and len(fields) in (2, 3, 4, 5) and "'MARKER'" not in fields:
        return fields[-1::-2][: len(fields) // 2]
    if section == "BOUNDS" and len(fields) == 4 and fields[0].upper() in ("UP", "LO", "FX", "LI", "UI"):
        return fields[3:]
    return []


def _refused(file: Path, where: str, rule: str, got: str, remedy: str) -> InvalidInputError:
    return invalid("path", where, f"{file}: {rule}", got, remedy=remedy)
