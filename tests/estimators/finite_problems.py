"""A forward problem whose feasible sets are lists of points, and programs that know all of them at once."""

import cvxpy as cp
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from conformio.problems import Problem


class Listed(Problem):
    """Context u picks the u-th list of points; optionally with squares as basis functions, and sparse answers."""

    context_width = 1

    def __init__(self, lists, sense="min", domain="free", squared=False, as_csr=False):
        self.lists = [np.asarray(points, dtype=float) for points in lists]
        self.n_params = self.n_vars = self.lists[0].shape[1]
        self.sense, self.domain, self.linear, self.as_csr = sense, domain, not squared, as_csr
        self.rows_solved = 0

    def nominal(self, theta, contexts):
        self.rows_solved += len(contexts)
        best = np.argmin if self.sense == "min" else np.argmax
        found = []
        for k, (u,) in enumerate(contexts):
            points = self.lists[int(u)]
            found.append(points[best(self._evaluate(points) @ (theta if theta.ndim == 1 else theta[k]))])
        return sparse.csr_array(np.array(found)) if self.as_csr else np.array(found)

    def draw_optimal(self, theta, contexts, rng):
        raise NotImplementedError

    def feasible(self, decisions, contexts):
        rows = decisions.toarray() if sparse.issparse(decisions) else decisions
        pairs = zip(rows, contexts, strict=True)
        return np.array([(x == self.lists[int(u)]).all(axis=1).any() for x, (u,) in pairs], dtype=bool)

    def cones(self, contexts, decisions):
        raise NotImplementedError

    def _evaluate(self, decisions):
        return decisions if self.linear else decisions**2


def random_problem(rng, sense="min", domain="free", n_lists=5, n_params=4, **options):
    lists = [rng.integers(0, 4, (rng.integers(3, 9), n_params)) for _ in range(n_lists)]
    return Listed(lists, sense, domain, **options)


def random_data(problem, rng, n_rows=30):
    contexts = rng.integers(0, len(problem.lists), (n_rows, 1)).astype(float)
    decisions = np.array([rng.choice(problem.lists[int(u)]) for (u,) in contexts])
    return contexts, decisions


def gaps(problem, contexts, decisions):
    """For each row, all vectors g (rows of a matrix) with loss = max over g of theta . g."""
    sign = 1.0 if problem.sense == "min" else -1.0
    observed = problem.basis(np.asarray(decisions))
    return [sign * (observed[k] - problem.basis(problem.lists[int(u)])) for k, (u,) in enumerate(contexts)]


def losses(problem, theta, contexts, decisions):
    return np.array([(g @ theta).max() for g in gaps(problem, contexts, decisions)])


def smallest_mean_loss(problem, contexts, decisions, center, radius):
    """The whole linear program over theta = center + p - q and one loss per row, by scipy."""
    n, d = len(contexts), problem.n_params
    rows = gaps(problem, contexts, decisions)
    blocks = [np.hstack([g, -g, -np.repeat(np.eye(n)[k : k + 1], len(g), axis=0)]) for k, g in enumerate(rows)]
    budget = np.concatenate([np.ones(2 * d), np.zeros(n)])[None, :]
    sides = np.concatenate([*(-g @ center for g in rows), [radius]])
    down = center if problem.domain == "nonnegative" else np.full(d, None)
    bounds = [(0, None)] * d + [(0, most) for most in down] + [(None, None)] * n
    costs = np.concatenate([np.zeros(2 * d), np.full(n, 1.0 / n)])
    found = linprog(costs, np.vstack([*blocks, budget]), sides, bounds=bounds, method="highs")
    assert found.status == 0
    return found.fun


def smallest_robust_loss(problem, contexts, decisions, center, radius, reach, level=None):
    """The whole conic program with all points, by CVXPY."""
    theta, own = cp.Variable(problem.n_params), cp.Variable(len(contexts))
    rules = [cp.norm1(theta - center) <= radius]
    rules += [g @ theta <= own[k] for k, g in enumerate(gaps(problem, contexts, decisions))]
    if problem.domain == "nonnegative":
        rules.append(theta >= 0)
    threshold = cp.Variable()
    risk, tail = cp.sum(own) / len(contexts), 1.0
    if level is not None:
        tail = 1.0 - level
        risk = threshold + cp.sum(cp.pos(own - threshold)) / (tail * len(contexts))
    whole = cp.Problem(cp.Minimize(risk + reach / tail * cp.norm2(theta)), rules)
    whole.solve(solver=cp.CLARABEL)
    return whole.value
