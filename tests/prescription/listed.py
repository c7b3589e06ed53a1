"""A forward problem whose feasible sets are written out, and brute force over them."""

import numpy as np

from conformio.problems import Problem
from conformio.problems.cones import CutCones


class Listed(Problem):
    """Context k stands for the k-th list of 0/1 vectors."""

    context_width = 1
    binary = True

    def __init__(self, families, sense="min", domain="free"):
        self.families, self.sense, self.domain = families, sense, domain
        self.n_params = self.n_vars = families[0].shape[1]
        self.calls = 0

    def members(self, context):
        return self.families[int(context[0])]

    def nominal(self, theta, contexts):
        self.calls += len(contexts)
        sign = 1.0 if self.sense == "min" else -1.0
        found = []
        for k, context in enumerate(contexts):
            costs = sign * (theta if theta.ndim == 1 else theta[k])
            found.append(self.members(context)[np.argmin(self.members(context) @ costs)])
        return np.array(found).reshape(len(contexts), self.n_vars)

    def draw_optimal(self, theta, contexts, rng):
        return self.nominal(theta, contexts)

    def feasible(self, decisions, contexts):
        return np.array([(self.members(u) == x).all(axis=1).any() for x, u in zip(decisions, contexts, strict=True)])

    def cones(self, contexts, decisions):
        return CutCones(self, contexts, decisions)


def family(rng, n, size):
    return np.unique(rng.integers(0, 2, (size, n)).astype(float), axis=0)


def best_value(cap, members, sense):
    """The robust value by evaluating every member."""
    if sense == "min":
        return cap.support(members).min()
    return (-cap.support(-members)).max()
