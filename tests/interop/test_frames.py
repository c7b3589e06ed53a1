"""pandas and polars frames in, and frames out."""

import sys

import numpy as np
import pytest

import conformio as cio

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def town():
    rng = np.random.default_rng(0)
    grid = cio.Network.grid(3, 3)
    problem = cio.ShortestPath(grid)
    trips = np.array([rng.choice(9, 2, replace=False) for _ in range(60)])
    return problem, trips, problem.solve(rng.uniform(1, 2, (60, grid.n_edges)), trips)


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda data, columns: pl.DataFrame(data, schema=columns)])
def test_contexts_and_decisions_may_be_frames(town, frame):
    problem, trips, routes = town
    contexts = frame(trips, columns=["from", "to"])
    seen = frame(routes.toarray(), columns=[f"edge {k}" for k in range(routes.shape[1])])
    pipeline = cio.ConformalIO(problem, cio.SuboptimalityLoss(), 0.8, random_state=0)
    model = pipeline.fit(contexts, seen)
    plain = cio.ConformalIO(problem, cio.SuboptimalityLoss(), 0.8, random_state=0).fit(trips, routes)
    assert model.angle_ == plain.angle_
    assert model.feature_names_in_.tolist() == ["from", "to"]
    assert np.array_equal(cio.metrics.adherence(model.predict(contexts), plain.predict(trips)), np.ones(60))
    assert model.score(contexts, seen) == plain.score(trips, routes)
    with pytest.raises(cio.InvalidInputError, match=r"must have the columns of the fitted data, \['from', 'to'\]"):
        model.predict(contexts[["to", "from"]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_prescriptions_as_frames_are_read_again(town, library):
    problem, trips, routes = town
    table = cio.observations.TripTable(problem.network, path="nodes")
    frame = table.frame(trips, routes, library)
    assert type(frame).__module__.split(".")[0] == library
    again = table.read(frame)
    assert np.array_equal(again.contexts, trips)
    assert (again.decisions != routes).nnz == 0
    alone = table.frame(trips, library=library)
    assert list(getattr(alone, "column_names", alone.columns))[:2] == ["origin", "destination"]
    assert np.array_equal(table.read_contexts(alone).contexts, trips)


def test_baskets_and_plans_as_frames():
    shop = cio.observations.BasketTable(cio.Knapsack([4.0, 3.0, 1.0]), ["tent", "stove", "map"])
    frame = shop.frame([[5.0], [0.5]], [[1, 0, 1], [0, 0, 0]])
    assert [list(items) for items in frame["items"]] == [["tent", "map"], []]
    assert shop.read(frame).decisions.toarray().tolist() == [[1, 0, 1], [0, 0, 0]]
    plant = cio.observations.PlanTable(cio.LinearProgram(A_ub=[[-1.0, -2.0]]), ["x", "y"], ["need"], signs=[-1.0])
    made = plant.frame([[-4.0]], [[0.0, 2.0]], "polars")
    assert made.to_dicts() == [{"need": 4.0, "x": 0.0, "y": 2.0}]
    assert plant.read(made).contexts.tolist() == [[-4.0]]


def test_paths_in_polars_frames_are_text_or_lists(town):
    table = cio.observations.TripTable(town[0].network)
    text = pl.DataFrame({"path": ["0;1;2", "3;4"]})
    assert table.read(text).contexts.tolist() == [[0, 2], [3, 4]]
    lists = pl.DataFrame({"path": [[0, 1, 2], [3, 4]]})
    assert (table.read(lists).decisions != table.read(text).decisions).nnz == 0


def test_wrong_frames(town, monkeypatch):
    problem, trips, routes = town
    table = cio.observations.TripTable(problem.network)
    with pytest.raises(cio.InvalidInputError, match=r"`library` of TripTable\.frame: must be one of 'pandas'"):
        table.frame(trips, routes, "dask")
    with pytest.raises(cio.InvalidInputError, match=r"`decisions` of TripTable\.frame: must have 60 rows"):
        table.frame(trips, routes[:3])
    with pytest.raises(cio.InvalidInputError, match=r"`contexts` of TripTable\.frame: must have 2 columns"):
        table.frame(trips[:, :1])
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(cio.InvalidInputError, match=r"needs polars; got no polars\. Run: pip install polars"):
        table.frame(trips, routes, "polars")
