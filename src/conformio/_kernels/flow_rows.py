"""Whether rows are 0/1 flows of one unit between their ends over edges they may use (compiled)."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["are_unit_flows"]


@njit(cache=True, nogil=True)
def are_unit_flows(indptr, indices, entries, tails, heads, zones, origins, destinations, tol):
    """One verdict per CSR row, bool (N,).

    A row is a unit flow when each entry is 0 or 1 within `tol`, edges in use leave no zone but the origin and enter
    none but the destination, and inflow minus outflow is -1 at the origin, 1 at the destination and 0 elsewhere (0
    everywhere when both are one node).
    """
    n_rows = len(origins)
    verdict = np.ones(n_rows, np.bool_)
    surplus = np.zeros(len(zones), np.int64)
    for row in range(n_rows):
        origin, destination = origins[row], destinations[row]
        good = True
        surplus[origin] += 1
        surplus[destination] -= 1
        for k in range(indptr[row], indptr[row + 1]):
            value = np.float64(entries[k])
            if abs(value) <= tol:
                continue
            i, j = tails[indices[k]], heads[indices[k]]
            if not abs(value - 1.0) <= tol or (zones[i] and i != origin) or (zones[j] and j != destination):
                good = False
                break
            surplus[i] -= 1
            surplus[j] += 1
        good = good and surplus[origin] == 0 and surplus[destination] == 0
        for k in range(indptr[row], indptr[row + 1]):
            i, j = tails[indices[k]], heads[indices[k]]
            good = good and surplus[i] == 0 and surplus[j] == 0
        for k in range(indptr[row], indptr[row + 1]):
            surplus[tails[indices[k]]] = surplus[heads[indices[k]]] = 0
        surplus[origin] = surplus[destination] = 0
        verdict[row] = good
    return verdict
