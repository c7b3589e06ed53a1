"""What objects show of themselves: short in text, a card in notebooks, everything escaped."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone

import conformio as cio

HOSTILE = "<script>alert('x')</script>&"


class Text(HTMLParser):
    """All text of well-formed HTML; open and closing tags are counted."""

    def __init__(self, html):
        super().__init__()
        self.words, self.open = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag not in {"input", "br", "img", "link", "meta", "path"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            self.open.remove(tag)

    def handle_data(self, data):
        self.words.append(data)


def shown(thing):
    """What its card says, on one line."""
    html = thing._repr_html_()
    page = Text(html)
    assert not page.open, page.open
    assert HOSTILE not in html
    assert "<script" not in html.split("<details>")[0]
    return " ".join(" ".join(page.words).split())


@pytest.fixture
def roads():
    return cio.Network([0, 1], [1, 2], attributes={HOSTILE: [1.0, 2.0]}, node_ids=["A", HOSTILE, "C"])


def fitted(problem, **settings):
    n = 9
    return cio.ConformalIO(problem, cio.FixedParameters([2.0, 1.0]), confidence_level=0.8, **settings).conformalize(
        np.ones(n), [[1, 0]] * 6 + [[0, 1]] * 3
    )


def test_network(roads):
    text = shown(roads)
    assert f"nodes 3, called 'A', \"{HOSTILE}\", 'C'" in text
    assert HOSTILE in text.split("edge attributes")[1]
    assert "coordinates none" in text
    zoned = shown(cio.Network([0], [1], zones=[True, False], coordinates=[[0, 0], [1, 1]], edge_ids=["a"]))
    assert "zones 1 nodes" in zoned
    assert "for every node" in zoned
    assert "with names" in zoned


def test_large_things_stay_short():
    grid = cio.Network.grid(60, 60)
    large = cio.Network(
        grid.tails, grid.heads, node_ids=range(3600), attributes={f"a{k}": grid.tails for k in range(30)}
    )
    cap = cio.SphericalCap(np.ones((500, 900)), 0.1)
    answer = cio.RobustSolution(np.ones((500, 900)), np.ones(500), np.zeros(500), np.full(500, "x"), np.ones(500, int))
    for thing in (large, cap, answer, cio.ShortestPath(large), cio.Knapsack(np.ones(5000))):
        assert len(repr(thing)) < 150, repr(thing)
        assert len(thing._repr_html_()) < 3000
    pipeline = cio.ConformalIO(cio.ShortestPath(large), cio.FixedParameters(np.arange(1.0, large.n_edges + 1)))
    assert len(pipeline._repr_html_().split("<details>")[0]) < 3000
    assert len(repr(pipeline)) < 1000


def test_cap():
    cap = cio.SphericalCap([2.0, 0.0], np.pi / 6)
    assert repr(cap) == "SphericalCap(n_params=2, angle=30 degrees, domain='free')"
    assert "angle 30 degrees (0.5236 radians)" in shown(cap)
    assert "one; [1. 0.]" in shown(cap)
    many = cio.SphericalCap([[1.0, 0.0], [0.0, 1.0]], 0.1, "nonnegative")
    assert repr(many).startswith("SphericalCap(2 centers, n_params=2")
    assert "2, one per decision" in shown(many)


def test_robust_solution():
    knapsack = cio.Knapsack([1.0, 1.0])
    answer = cio.solve_robust(knapsack, cio.SphericalCap([2.0, 1.0], 0.1), [1.0, 2.0])
    assert repr(answer) == f"RobustSolution(2 decisions, 2 certified, largest gap {answer.gap.max():.3g})"
    text = shown(answer)
    assert "certified 2 of 2" in text
    assert f"{answer.values.min():.6g} to {answer.values.max():.6g}" in text
    assert f"({(answer.method == answer.method[0]).sum()})" in text
    nothing = cio.solve_robust(knapsack, cio.SphericalCap([2.0, 1.0], 0.1), np.zeros((0, 1)))
    assert repr(nothing) == "RobustSolution(0 decisions, 0 certified, largest gap 0)"
    assert "worst-case values none" in shown(nothing)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (cio.Knapsack([1.0, 2.0]), "max, linear in 2 parameters (free) decisions 2 entries; 0/1 vectors"),
        (cio.LinearProgram(A_ub=[[1.0, 1.0]]), "min, linear in 2 parameters (free) decisions 2 entries; convex sets"),
        (cio.OracleProblem(lambda theta, u: theta, 3), "decisions 3 entries; sets of any kind a context row 1 columns"),
    ],
)
def test_problems(problem, words):
    text = shown(problem)
    assert words in text
    assert repr(problem) in text


def test_pipeline_before_and_after_fitting():
    knapsack = cio.Knapsack([1.0, 1.0])
    before = shown(cio.ConformalIO(knapsack))
    assert "ConformalIO, not fitted" in before
    assert "PerturbedFenchelYoung() (the default)" in before
    model = fitted(knapsack)
    text = shown(model)
    assert f"calibrated set {np.degrees(model.angle_):.3g} degrees around it" in text
    assert "calibrated on 9 decisions, 0 of them unexplained" in text
    assert "With probability at least 0.8, the set meets the parameters" in text
    assert "one direction of 2 parameters" in text
    assert "left out" not in text
    assert "not fitted" in shown(clone(model))


def test_pipeline_whose_set_is_everything_claims_nothing():
    knapsack = cio.Knapsack([1.0, 1.0])
    with pytest.warns(cio.CalibrationWarning):
        model = cio.ConformalIO(knapsack, cio.FixedParameters([2.0, 1.0])).conformalize([1.0], [[1, 0]])
    assert "everything (180 degrees)" in shown(model)
    assert "Nothing is certified" in shown(model)


def test_pipeline_with_centers_per_context_one_level_and_rows_left_out():
    model = fitted(cio.Knapsack([1.0, 1.0]), scores="level")
    model.confidence_level = 0.5  # set, and not calibrated
    assert "With probability at least 0.8," in shown(model)
    predictor = cio.FixedParameters(lambda u: np.hstack([u, u]))
    moving = cio.ConformalIO(cio.Knapsack([1.0, 1.0]), predictor, 0.5).conformalize([1.0], [[1, 0]])
    assert "point estimate one per context" in shown(moving)
    moving.n_excluded_ = 3
    assert "left out of training 3 infeasible decisions" in shown(moving)


def test_scikit_learn_decides_whether_there_are_diagrams():
    for thing in (fitted(cio.Knapsack([1.0, 1.0])), cio.SuboptimalityLoss()):
        bundle = thing._repr_mimebundle_()
        assert bundle["text/plain"] == repr(thing)
        assert bundle["text/html"].split("<details>")[0] == thing._repr_html_().split("<details>")[0]
        assert "<summary>Settings</summary>" in bundle["text/html"]
        with config_context(display="text"):
            assert set(thing._repr_mimebundle_()) == {"text/plain"}
            assert not hasattr(thing, "_repr_html_")


def test_estimators():
    estimator = cio.SuboptimalityLoss()
    assert "SuboptimalityLoss, not fitted" in shown(estimator)
    estimator.fit(cio.Knapsack([1.0, 1.0]), [1.0, 1.0], [[1, 0], [0, 1]])
    text = shown(estimator)
    assert "estimate 2 parameters" in text
    assert f"training loss {estimator.loss_:.6g}" in text
    assert f"iterations {estimator.n_iter_}" in text
    moving = cio.FixedParameters(lambda u: np.hstack([u, u])).fit(cio.Knapsack([1.0, 1.0]), [1.0])
    assert "one vector per context" in shown(moving)


def test_text_of_settings_is_escaped():
    class Hostile:
        def __repr__(self):
            return HOSTILE

        def predict(self, contexts):
            return np.ones((len(contexts), 2))

    pipeline = cio.ConformalIO(cio.Knapsack([1.0, 1.0]), cio.FixedParameters(Hostile()))
    assert HOSTILE not in pipeline._repr_html_()
    assert re.search(r"FixedParameters\(theta=&lt;script", pipeline._repr_html_())


def test_observations_tell_what_was_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    roads = cio.Network([0, 1], [1, 2], node_ids=["A", "B", "C"])
    table = cio.observations.TripTable(roads, path="stops")
    seen = table.read(pa.table({"stops": ["A;B;C", "A;Q"]}), on_bad="skip", skipped=tmp_path / "skipped.csv")
    assert repr(seen) == "Observations(1 of 2 rows, decisions of 2 entries)"
    assert repr(table.read_contexts(pa.table({"stops": ["A;B;C"]}))).startswith("Observations(1 of 1 rows, without")
