"""Rounds of cutting planes for many cones at once (compiled).

Row `k` looks for the point closest to its centre in `{theta : cuts theta >= 0}`, its cuts known only in part. A round
brings one fresh cut for each row still at work; a cut that is violated joins the row's others and the row's foot is
projected anew, a nonnegative least-squares problem in the cuts' multipliers. Cuts of all rows share one pool; `older`
links each to the row's cut before it (-1: none).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from conformio._kernels.least_squares import nonnegative_least_squares
from conformio.checks import BoolArray, FloatArray, IntArray

__all__ = ["cut_round", "cut_round_twin"]


@njit(cache=True, nogil=True)
def _is_known(pool: FloatArray, older: IntArray, place: int, cut: FloatArray) -> bool:
    while place >= 0:
        if np.array_equal(pool[place], cut):
            return True
        place = older[place]
    return False


@njit(cache=True, nogil=True)
def _columns(pool: FloatArray, older: IntArray, place: int, nonnegative: bool) -> FloatArray:
    """A row's cuts as columns, with the axes after them if `theta >= 0` is asked for."""
    d, size, at = pool.shape[1], 0, place
    while at >= 0:
        size, at = size + 1, older[at]
    columns = np.zeros((d, size + (d if nonnegative else 0)))
    while place >= 0:
        size -= 1
        columns[:, size] = pool[place]
        place = older[place]
    if nonnegative:
        for j in range(d):
            columns[j, columns.shape[1] - d + j] = 1.0
    return columns


@njit(cache=True, nogil=True)
def cut_round(
    pool: FloatArray, older: IntArray, newest: IntArray, used: int, fresh: FloatArray, rows: IntArray,
    centers: FloatArray, feet: FloatArray, violations: FloatArray, nonnegative: bool, violated: float, vanishes: float,
) -> tuple[int, BoolArray]:  # fmt: skip
    """Take in one cut for each of `rows`.

    Parameters
    ----------
    pool, older : float array (P, d), int64 array (P,)
        With room for `len(rows)` cuts after the first `used`.
    newest : int64 array (N,)
        Each row's last cut in the pool, or -1.
    fresh : float array (len(rows), d)
    centers, feet : float arrays (N, d)
        `feet` is brought up to date, as is `violations` (N,).
    nonnegative : bool
        Whether `theta >= 0` as well.
    violated, vanishes : float
        Violation, relative to the cut's length, up to which a cut counts as satisfied; length of a foot that is none.

    Returns
    -------
    used : int
    still : bool array (len(rows),)
        Rows whose foot moved and is not the origin.
    """
    still = np.zeros(len(rows), np.bool_)
    for p in range(len(rows)):
        row, cut = rows[p], fresh[p]
        length = np.sqrt(np.sum(cut * cut))
        violations[row] = max(-np.sum(feet[row] * cut) / length, 0.0) if length > 0.0 else 0.0
        if violations[row] <= violated or _is_known(pool, older, newest[row], cut):
            continue
        pool[used], older[used], newest[row] = cut, newest[row], used
        used += 1
        columns = _columns(pool, older, newest[row], nonnegative)
        weights, slack = nonnegative_least_squares(columns, -centers[row], 10 * (columns.shape[1] + len(cut)) + 100)
        feet[row] = centers[row]
        for k in range(len(weights)):
            if weights[k] > 0.0:
                feet[row] += weights[k] * columns[:, k]
        if nonnegative:
            feet[row] = np.maximum(feet[row], 0.0)
        if slack > violated:
            violations[row] = slack
        elif np.sqrt(np.sum(feet[row] ** 2)) > vanishes:
            still[p] = True
        else:
            violations[row] = 0.0  # the origin satisfies every cut still missing
    return used, still


def cut_round_twin(
    cuts: list[list[FloatArray]], fresh: FloatArray, centers: FloatArray, feet: FloatArray, nonnegative: bool,
    violated: float,
) -> FloatArray:  # fmt: skip
    """Feet after one round for rows that all take part, from lists of cuts that are extended."""
    moved = feet.copy()
    for row, cut in enumerate(fresh):
        if -(feet[row] @ cut) <= violated * np.linalg.norm(cut):
            continue
        if any(np.array_equal(cut, old) for old in cuts[row]):
            continue
        cuts[row].append(cut)
        columns = np.column_stack([*cuts[row], *(np.eye(len(cut)) if nonnegative else [])])
        weights, _ = nonnegative_least_squares(np.ascontiguousarray(columns), -centers[row], 10_000)
        foot = centers[row] + columns @ weights
        moved[row] = np.maximum(foot, 0.0) if nonnegative else foot
    return moved
