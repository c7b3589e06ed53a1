"""Figures show the numbers of the library, return their axes, and leave matplotlib as it was."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

import conformio as cio
from conformio.plots.layout import hop_layout
from conformio.plots.road_map import partings
from conformio.studies import road_grid_example

mpl.use("Agg")


@pytest.fixture(scope="module")
def drivers():
    return road_grid_example(160, random_state=1)


@pytest.fixture(scope="module")
def model(drivers):
    estimate = cio.FixedParameters(drivers.theta_true)
    return cio.ConformalIO(drivers.problem, estimate).conformalize(drivers.contexts[:80], drivers.decisions[:80])


@pytest.fixture(scope="module")
def one_level(drivers):
    estimate = cio.FixedParameters(drivers.theta_true)
    pipeline = cio.ConformalIO(drivers.problem, estimate, confidence_level=0.8, scores="level")
    return pipeline.conformalize(drivers.contexts[:80], drivers.decisions[:80])


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """No figure is shown, no setting changed; figures of a test are closed after it."""
    before = dict(mpl.rcParams)
    monkeypatch.setattr(plt, "show", lambda *_, **__: pytest.fail("a figure was shown"))
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def line(ax, label):
    return next(drawn for drawn in ax.lines if drawn.get_label() == label)


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def test_coverage_shows_shares_and_the_exact_band(drivers, model):
    contexts, decisions = drivers.contexts[80:], drivers.decisions[80:]
    ax = cio.plots.coverage(model, contexts, decisions, levels=[0.9, 0.5], mass=0.95)
    levels, shares = line(ax, "observed").get_data()
    assert list(levels) == [0.5, 0.9]
    assert list(shares) == [model.covers(contexts, decisions, level).mean() for level in (0.5, 0.9)]
    corners = {(round(x, 9), round(y, 9)) for x, y in ax.collections[0].get_paths()[0].vertices.tolist()}
    for level in (0.5, 0.9):
        for end in cio.metrics.coverage_interval(80, level, 80, mass=0.95):
            assert (level, round(end, 9)) in corners
    assert "exact 95% band" in labels(ax)
    ax.figure.canvas.draw()


def test_levels_go_as_far_as_the_calibration_set_certifies(drivers, model):
    few = cio.ConformalIO(drivers.problem, cio.FixedParameters(drivers.theta_true), confidence_level=0.5)
    few.conformalize(drivers.contexts[:3], drivers.decisions[:3])
    drawn = line(cio.plots.coverage(few, drivers.contexts[80:], drivers.decisions[80:]), "observed")
    assert drawn.get_xdata()[-1] == 0.74  # rank ceil(0.74 * 4) = 3 of 3
    assert (
        len(line(cio.plots.coverage(model, drivers.contexts[80:], drivers.decisions[80:]), "observed").get_xdata())
        == 49
    )


def test_a_model_of_one_level_shows_that_one(drivers, one_level):
    contexts, decisions = drivers.contexts[80:], drivers.decisions[80:]
    assert list(line(cio.plots.coverage(one_level, contexts, decisions), "observed").get_xdata()) == [0.8]
    assert list(line(cio.plots.gaps(one_level, contexts, decisions), "robust").get_xdata()) == [0.8]
    with pytest.raises(
        cio.InvalidInputError, match=r'`source` of plots\.angles: must know all its angles.*scores="all"'
    ):
        cio.plots.angles(one_level)


def test_angles_are_a_distribution_function_with_ties_and_unexplained():
    scores = [0.0, 0.1, 0.1, 0.1, 0.2, 0.3, 0.4, np.pi, np.pi]
    ax = cio.plots.angles(scores, confidence_level=0.3)
    x, share = line(ax, "9 decisions").get_data()
    for angle in scores[:7]:
        assert share[np.flatnonzero(x <= np.degrees(angle))[-1]] == pytest.approx((np.array(scores) <= angle).mean())
    assert share[-1] == pytest.approx(7 / 9)
    tied = line(ax, "tied there: 33.3%")  # rank ceil(0.3 * 10) = 3: the angle 0.1
    assert tied.get_ydata() == pytest.approx([1 / 9, 4 / 9])
    assert "unexplained: 2 (22.2%)" in labels(ax)
    assert f"level 0.3: {np.degrees(0.1):.3g}°" in labels(ax)
    ax.figure.canvas.draw()


def test_angles_of_a_model_and_of_levels_beyond_all_of_them(model):
    ax = cio.plots.angles(model)
    assert labels(ax) == ["80 decisions", f"level 0.9: {np.degrees(model.angle_):.3g}°"]
    with pytest.warns(cio.CalibrationWarning, match="cannot certify"):
        everything = cio.plots.angles([0.0, 0.1], confidence_level=0.9)
    assert "level 0.9: everything (180°)" in labels(everything)
    assert labels(cio.plots.angles([np.pi])) == ["1 decisions", "unexplained: 1 (100.0%)"]


@pytest.mark.parametrize("measure", ["adherence", "jaccard", "actual", "perceived"])
def test_gaps_show_robust_and_nominal(drivers, model, measure):
    rows = slice(80, 110)
    contexts, observed, problem = drivers.contexts[rows], drivers.decisions[rows], drivers.problem
    measured = {
        "adherence": lambda plan: cio.metrics.adherence(plan, observed).mean(),
        "jaccard": lambda plan: cio.metrics.adherence(plan, observed, kind="jaccard").mean(),
        "actual": lambda plan: cio.metrics.actual_optimality_gap(problem, drivers.theta_true, contexts, plan),
        "perceived": lambda plan: cio.metrics.perceived_optimality_gap(problem, drivers.thetas[rows], contexts, plan),
    }[measure]
    theta = {"actual": drivers.theta_true, "perceived": drivers.thetas[rows]}.get(measure)
    given = {"decisions": observed} if theta is None else {"theta": theta}
    ax = cio.plots.gaps(model, contexts, measure=measure, levels=(0.5, 0.95), **given)
    assert line(ax, "robust").get_ydata() == pytest.approx([measured(model.predict(contexts, k)) for k in (0.5, 0.95)])
    assert line(ax, "nominal").get_ydata() == pytest.approx([measured(model.predict_nominal(contexts))] * 2)


def test_relative_gaps_say_so(drivers, model):
    ax = cio.plots.gaps(
        model, drivers.contexts[80:90], theta=drivers.theta_true, measure="actual", relative=True, levels=[0.5]
    )
    assert ax.get_ylabel() == "relative actual optimality gap"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"measure": "regret"},
            "`measure` of plots.gaps: must be one of 'adherence', 'jaccard', 'actual', 'perceived'",
        ),
        ({"decisions": None}, '`decisions` of plots.gaps: must be given with measure="adherence"; got None'),
        ({"theta": [1.0]}, '`theta` of plots.gaps: has no meaning with measure="adherence"'),
        ({"measure": "actual"}, '`decisions` of plots.gaps: has no meaning with measure="actual"'),
        ({"measure": "actual", "decisions": None}, '`theta` of plots.gaps: must be given with measure="actual"'),
        ({"relative": True}, '`relative` of plots.gaps: must be False with measure="adherence"'),
        ({"relative": 1}, "`relative` of plots.gaps: must be True or False"),
        ({"levels": 0.9}, "`levels` of plots.gaps: must be a sequence of confidence levels; got 0.9"),
        ({"levels": []}, "`levels` of plots.gaps: must hold at least one level; got none"),
        ({"levels": [0.5, 90]}, r"`confidence_level` of plots.gaps: must be a number in \[0, 1\]; got 90"),
        (
            {"contexts": np.zeros((0, 2)), "decisions": np.zeros((0, 120))},
            "`contexts` of plots.gaps: must have at least",
        ),
        ({"ax": "here"}, "`ax` of plots.gaps: must be matplotlib axes or None; got str"),
        ({"ax": [1]}, r"Write axes\[0\] for the first of several"),
    ],
)
def test_wrong_use_of_gaps(drivers, model, change, message):
    arguments = {"contexts": drivers.contexts[80:90], "decisions": drivers.decisions[80:90], **change}
    with pytest.raises(cio.InvalidInputError, match=message):
        cio.plots.gaps(model, **arguments)
    assert not plt.get_fignums()  # nothing half drawn is left behind


def test_models_must_be_models_and_fitted(drivers):
    with pytest.raises(
        cio.InvalidInputError, match=r"`model` of plots\.coverage: must be a fitted ConformalIO; got str"
    ):
        cio.plots.coverage("model", [], [])
    with pytest.raises(cio.NotFittedError):
        cio.plots.angles(cio.ConformalIO(drivers.problem))


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(cio.InvalidInputError, match=r'needs matplotlib.*Run: pip install "conformio\[plots\]"'):
        cio.plots.angles([0.1])


def test_given_axes_are_used():
    ax = plt.figure().add_subplot()
    assert cio.plots.angles([0.1, 0.2], ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_network_colours_edges_and_draws_routes(drivers, model):
    network = drivers.problem.network
    routes = {"observed": drivers.decisions[[3]], "robust": model.predict(drivers.contexts[[3]]).toarray()[0]}
    ax = cio.plots.network(network, model.theta_, routes, label="cost")
    streets = next(drawn for drawn in ax.collections if isinstance(drawn, LineCollection))
    assert np.asarray(streets.get_array()) == pytest.approx(model.theta_)
    assert ax.figure.axes[1].get_ylabel() == "cost"
    (walk,) = network.paths_from_decisions(routes["observed"])
    nodes = [network.tails[walk[0]], *network.heads[walk]]
    assert line(ax, "observed").get_xydata() == pytest.approx(network.coordinates[nodes])
    assert {"observed", "robust", "origin", "destination"} <= set(labels(ax))
    ax.figure.canvas.draw()


def test_directions_of_a_street_lie_apart():
    ax = cio.plots.network(cio.Network([0, 1, 0], [1, 0, 1], coordinates=[[0, 0], [0, 1]]), values=[1.0, 2.0, 3.0])
    lanes = [segment[:, 0].mean() for segment in ax.collections[0].get_segments()]
    assert lanes[0] > 0 > lanes[1]  # northwards on the right, southwards on its own right
    assert lanes[2] > lanes[0]


def test_partings_are_where_walks_go_on_differently():
    grid = cio.Network.grid(3, 3)
    walks = [[0, 1, 2, 5, 8], [0, 1, 4, 5, 8]]
    paths = grid.paths_from_decisions(grid.decisions_from_paths(walks, kind="nodes"))
    assert partings(grid, dict(enumerate(paths))) == ([1], [5])
    assert partings(grid, {0: paths[0], 1: paths[0]}) == ([], [])
    assert partings(grid, {0: paths[0], 1: paths[0][:2]}) == ([2], [])


def test_zoom_shows_the_surroundings_only():
    grid = cio.Network.grid(20, 20)
    route = grid.decisions_from_paths([[0, 1, 2]], kind="nodes")
    near = cio.plots.network(grid, np.arange(grid.n_edges), {"r": route}, zoom=True)
    shown = near.collections[0]
    assert len(shown.get_segments()) < 40
    assert shown.get_clim() == (0, grid.n_edges - 1)
    nothing = cio.plots.network(grid, routes={"none": np.zeros(grid.n_edges)}, zoom=True)
    assert len(nothing.collections[0].get_segments()) == grid.n_edges


def test_large_networks_are_pictures_inside_vector_files():
    assert cio.plots.network(cio.Network.grid(30, 30)).collections[0].get_rasterized()
    assert not cio.plots.network(cio.Network.grid(3, 3)).collections[0].get_rasterized()


def test_networks_without_coordinates_say_how_they_are_placed():
    bare = cio.Network([0, 1, 2], [1, 2, 3])
    assert "placed by the number of edges" in cio.plots.network(bare).get_xlabel()
    assert cio.plots.network(cio.Network.grid(2, 2)).get_xlabel() == ""


@pytest.mark.parametrize("size", [6, 21])  # all distances, and distances to some nodes
def test_the_layout_follows_distances(size):
    grid = cio.Network.grid(size, size)
    places = hop_layout(cio.Network(grid.tails, grid.heads))
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, size**2, (2, 300))
    true = np.abs(grid.coordinates[one] - grid.coordinates[other]).sum(axis=1)
    drawn = np.linalg.norm(places[one] - places[other], axis=1)
    assert np.corrcoef(true, drawn)[0, 1] > 0.9
    assert np.array_equal(places, hop_layout(cio.Network(grid.tails, grid.heads)))


def test_the_layout_puts_parts_apart():
    places = hop_layout(cio.Network([0, 1, 3, 4], [1, 2, 4, 5]))
    middles = [places[:3].mean(axis=0), places[3:].mean(axis=0)]
    within = max(np.linalg.norm(places[k] - middles[k // 3]) for k in range(6))
    assert np.linalg.norm(middles[0] - middles[1]) > 2 * within


@pytest.mark.parametrize(
    "network",
    [cio.Network([0], [1]), cio.Network([0, 2], [1, 3], n_nodes=6), cio.Network([0] * 9, range(1, 10))],
    ids=["one edge", "parts", "star"],
)
def test_the_layout_of_odd_networks(network):
    places = hop_layout(network)
    assert places.shape == (network.n_nodes, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == network.n_nodes  # no node hides another


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": cio.ShortestPath(cio.Network.grid(2, 2))}, r"`network` of plots\.network.*Write problem\.network"),
        ({"values": [1.0]}, r"`values` of plots\.network: must have length 8; got length 1"),
        ({"routes": [1, 2]}, r'`routes` of plots\.network: must be a mapping.*got list.*\{"observed": '),
        ({"routes": {"r": np.eye(2, 8)}}, r"`routes\['r'\]` of plots\.network: must be one decision; got 2 rows"),
        ({"routes": {"r": [1.0]}}, r"`routes\['r'\]` of plots\.network: must have one row per observation and 8"),
        ({"routes": {"r": np.full(8, 0.5)}}, r"paths_from_decisions"),
        ({"routes": {str(k): np.zeros(8) for k in range(7)}}, "must hold at most 6 routes; got 7"),
        ({"zoom": True}, "`zoom` of plots.network: must be False without routes"),
    ],
)
def test_wrong_use_of_network(change, message):
    with pytest.raises(cio.InvalidInputError, match=message):
        cio.plots.network(**{"network": cio.Network.grid(2, 2), **change})
    assert not plt.get_fignums()
