"""Edges in walking order: the fast route against Hierholzer's walk of each row."""

import numpy as np
import pytest
from scipy import sparse

from conformio.errors import InvalidInputError
from conformio.networks import Network
from conformio.observations import walk_order
from conformio.observations.walk_order import ordered_edges
from conformio.problems import ShortestPath

GRID = Network.grid(6, 7)


def routes(n, seed=0):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 42, (n, 2))  # some begin where they end: empty rows
    return ShortestPath(GRID).solve(rng.uniform(1, 2, (n, GRID.n_edges)), ends)


def slow(network, decisions):
    return [path.tolist() for path in network.paths_from_decisions(decisions)]


def split(flat, lengths):
    return [part.tolist() for part in np.split(flat, np.cumsum(lengths)[:-1])]


@pytest.mark.parametrize("form", ["csr", "int8", "dense", "with zeros"])
def test_random_paths(form, monkeypatch):
    decisions = routes(200)
    wanted = slow(GRID, decisions)
    forms = {
        "csr": decisions,
        "int8": decisions.astype(np.int8),
        "dense": decisions.toarray(),
        "with zeros": sparse.csr_array(
            (
                np.append(decisions.data, 0.0),
                np.append(decisions.indices, 5),
                np.append(decisions.indptr[:-1], decisions.nnz + 1),
            ),
            shape=decisions.shape,
        ),
    }
    monkeypatch.setattr(walk_order, "_one_by_one", None)  # the fast route it must be
    assert split(*ordered_edges(GRID, forms[form])) == wanted


def test_walks_with_loops_take_the_slow_route():
    network = Network([0, 1, 2, 1, 3], [1, 2, 1, 3, 0])
    eight = np.array([[1, 1, 1, 1, 0], [1, 0, 0, 1, 0], [0, 1, 1, 0, 0], [1, 0, 0, 1, 1]])
    assert split(*ordered_edges(network, eight)) == slow(network, eight)


@pytest.mark.parametrize("row", [[1, 0, 1, 0, 0], [1, 1, 0, 0, 0.5]])
def test_what_is_no_walk_is_an_error(row):
    network = Network([0, 1, 2, 1, 3], [1, 2, 1, 3, 0])
    with pytest.raises(InvalidInputError, match=r"`decisions` row 1 of Network.paths_from_decisions"):
        ordered_edges(network, np.array([[1, 0, 0, 1, 0], row]))


def test_nothing_at_all():
    flat, lengths = ordered_edges(GRID, np.zeros((2, GRID.n_edges)))
    assert (flat.tolist(), lengths.tolist()) == ([], [0, 0])
