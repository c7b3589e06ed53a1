"""The cutting plane for robust routes with Gurobi as its master, for those who have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conformio.checks import FloatArray
from conformio.problems import ShortestPath
from conformio.sets import SphericalCap
from conformio.studies.benchmarks.settings import SkippedError, peer

__all__ = ["GurobiCuts"]

_GAP = 1e-9
_MOST_CUTS = 1000


@dataclass(frozen=True)
class GurobiCuts:
    """One model a call: balances change from trip to trip, cuts of the last trip are dropped."""

    library: Any
    environment: Any

    @classmethod
    def loaded(cls) -> GurobiCuts:
        """With the installed library, when its licence lets it start."""
        library = peer("gurobipy", "optional: pip install gurobipy, which needs a licence")
        try:
            environment = library.Env(params={"OutputFlag": 0, "Threads": 1})
        except library.GurobiError as error:
            raise SkippedError(f"Gurobi does not start: {error}") from error
        return cls(library, environment)

    def values(self, problem: ShortestPath, cap: SphericalCap, trips: FloatArray) -> FloatArray:
        """Worst-case value of the best route of each trip."""
        network, grb = problem.network, self.library.GRB
        model = self.library.Model(env=self.environment)
        model.Params.MIPGap, model.Params.MIPGapAbs = 0.0, _GAP
        x = model.addMVar(network.n_edges, vtype=grb.BINARY)
        worst = model.addVar(lb=0.0, obj=1.0)
        balance = model.addMConstr(network.incidence, x, "=", np.zeros(network.n_nodes))
        found = np.empty(len(trips))
        for k, (origin, destination) in enumerate(trips.astype(int).tolist()):
            sides = np.zeros(network.n_nodes)
            sides[[origin, destination]] = -1.0, 1.0
            balance.RHS = sides
            cuts = [model.addConstr(cap.center @ x <= worst)]
            found[k] = np.inf
            while len(cuts) < _MOST_CUTS:
                model.optimize()
                theta = cap.worst_case(np.rint(x.X))
                found[k] = min(found[k], float(theta @ np.rint(x.X)))
                if found[k] - model.ObjBound <= _GAP:
                    break
                cuts.append(model.addConstr(theta @ x <= worst))
            model.remove(cuts)
        return found
