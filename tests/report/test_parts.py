"""Parts of the report on their own: sampling, places without coordinates, other problems, a page that is large."""

from base64 import b64decode
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from report_cases import Case, road_case

import conformio as cio
from conformio.errors import InvalidInputError
from conformio.observations import Observations, table_for
from conformio.report import measure
from conformio.report.labels import edge_label, parameter_names
from conformio.report.markup import element, table
from conformio.report.payload import _network, payload
from conformio.report.prescribed import prescribed
from conformio.report.sampling import spread_rows, stratified


def kinds(*sizes):
    n = sum(sizes)
    starts = np.cumsum([0, *sizes])
    masks = [(np.arange(n) >= a) & (np.arange(n) < b) for a, b in pairwise(starts)]
    return {f"kind {k}": mask for k, mask in enumerate(masks)}


class TestSampling:
    def test_rare_kinds_are_kept(self):
        found = stratified(kinds(3, 50, 5000), 60, np.random.default_rng(0))
        assert [(s.size, s.shown) for s in found.strata] == [(3, 3), (50, 37), (5000, 20)]
        assert set(range(3)) <= set(found.rows.tolist())
        assert len(found.rows) == len(set(found.rows.tolist())) == 60
        assert (np.diff(found.rows) > 0).all()
        assert not found.complete

    @pytest.mark.parametrize("sizes", [(0, 0, 5), (4, 0, 0), (2, 2, 2)])
    def test_few_rows_are_all_shown(self, sizes):
        found = stratified(kinds(*sizes), 100, np.random.default_rng(0))
        assert found.rows.tolist() == list(range(sum(sizes)))
        assert found.complete

    @pytest.mark.parametrize("limit", [1, 2, 7, 100])
    def test_never_more_than_the_limit(self, limit):
        found = stratified(kinds(5, 30, 40), limit, np.random.default_rng(0))
        assert len(found.rows) == min(limit, 75)
        assert sum(s.shown for s in found.strata) == len(found.rows)

    def test_a_row_belongs_to_its_first_kind(self):
        both = np.array([True, True, False])
        found = stratified({"a": both, "b": np.ones(3, bool)}, 9, np.random.default_rng(0))
        assert [(s.name, s.size) for s in found.strata] == [("a", 2), ("b", 1)]

    def test_rows_spread_at_random(self):
        rng = np.random.default_rng(0)
        assert spread_rows(5, 5, rng).tolist() == [0, 1, 2, 3, 4]
        drawn = spread_rows(1000, 100, rng)
        assert len(np.unique(drawn)) == 100
        assert 350 < drawn.mean() < 650

    def test_unexplained_rows_are_shown_but_not_counted(self, road):
        model = cio.ConformalIO(road.model.problem, cio.FixedParameters(road.model.theta_), infeasible="unexplained")
        evidence = road.measures.evidence
        model.conformalize(evidence.contexts[:40], evidence.decisions[:40])
        decisions = evidence.decisions.toarray()
        decisions[70] = decisions[70 - 1]  # between other ends, so infeasible
        observed = Observations(
            evidence.contexts, decisions, road.observed.ids, road.observed.rows, road.observed.report
        )
        measures = measure(model, observed, sample=5, shown=4)
        assert measures.n_prescribed == 5
        assert 70 in measures.sample.rows
        assert measures.sample.strata[0].shown == measures.sample.strata[0].size == 1
        assert measures.classic.n == 5
        assert payload(measures, road.table, observed)["angles"]["test"]["unexplained"] == 0.01


class TestPlaces:
    def test_coordinates_as_wide_as_floats(self):
        ends = np.array([[-1.7e308, 0.0], [1.7e308, 0.0]])
        network = cio.Network([0, 1], [1, 0], coordinates=ends)
        shown = _network(network, np.ones(2))["places"]
        np.testing.assert_array_equal(np.frombuffer(b64decode(shown["d"]), "<f4"), [0.0, 0.0, 1.0, 0.0])

    def test_the_page_says_so(self):
        case = road_case(coordinates=False)
        assert payload(case.measures, case.table, case.observed)["network"]["computed"] is True


def observations(problem, contexts, decisions):
    """Rows as a table would give them."""
    columns = {f"u{k}": pa.array(np.asarray(contexts)[:, k]) for k in range(problem.context_width)}
    columns |= {f"x{k}": pa.array(np.asarray(decisions)[:, k]) for k in range(problem.n_vars)}
    return table_for(problem).read(pa.table(columns))


class TestOtherProblems:
    def test_a_solver_of_ones_own(self):
        def solve(theta, u):
            return np.array([u[0], 0.0]) if theta[0] < theta[1] else np.array([0.0, u[0]])

        problem = cio.OracleProblem(
            solve, n_params=2, context_width=1, n_vars=2, domain="nonnegative", feasible_set="convex"
        )
        rng = np.random.default_rng(0)
        contexts = rng.integers(1, 5, (60, 1)).astype(float)
        decisions = problem.solve(rng.uniform(0, 1, (60, 2)), contexts)
        model = cio.ConformalIO(problem, cio.FixedParameters([1.0, 1.2]), confidence_level=0.8)
        model.conformalize(contexts[:30], decisions[:30])
        observed = observations(problem, contexts[30:], decisions[30:])
        case = Case(model, table_for(problem), observed)
        assert "A problem behind a solver of one&#x27;s own with 2 variables, minimised" in case.page()
        assert case.measures.classic.overlap is None

    def test_centres_that_depend_on_the_context(self, road):
        def centres(contexts):
            return 1.0 + (np.asarray(contexts)[:, :1] % 2) + np.arange(48)[None, :] / 48

        model = cio.ConformalIO(road.model.problem, cio.FixedParameters(centres))
        evidence = road.measures.evidence
        model.conformalize(evidence.contexts[:50], evidence.decisions[:50])
        measures = measure(model, road.observed)
        np.testing.assert_allclose(measures.center, model.centers(evidence.contexts).mean(axis=0))
        one = measures.levels[-1]
        robust = model.predict(evidence.contexts, one.level)
        costs = [(rows.toarray() * model.centers(evidence.contexts)).sum() for rows in (robust, measures.shown[0])]
        assert len(measures.sample.rows) == 100
        assert one.extra == pytest.approx(costs[0] / costs[1] - 1)

    def test_flows_with_cycles_apart(self):
        roads = cio.Network([0, 1, 3, 4], [1, 2, 4, 3])
        problem = cio.ShortestPath(roads, domain="free")
        contexts, decisions = np.tile([[0, 2]], (20, 1)), np.tile([[1.0, 1, 0, 0]], (20, 1))
        model = cio.ConformalIO(problem, cio.FixedParameters([1.0, 1, -1, -1])).conformalize(contexts, decisions)
        observed = table_for(problem).read(pa.table({"path": ["0;1;2"] * 20}))
        case = Case(model, table_for(problem), observed)
        assert case.measures.shown[0].toarray()[0].tolist() == [1, 1, 1, 1]
        decisions = payload(case.measures, case.table, case.observed)["decisions"]
        start, items = (np.frombuffer(b64decode(decisions[name]["d"]), np.uint8) for name in ("start", "items"))
        assert sorted(items[start[2] : start[3]].tolist()) == [0, 1, 2, 3]


class TestNames:
    def test_parallel_edges(self):
        roads = cio.Network([0, 0, 1], [1, 1, 0], node_ids=["A", "B"])
        assert [edge_label(roads, k) for k in range(3)] == ["A → B (no. 0)", "A → B (no. 1)", "B → A"]
        named = cio.Network([0, 0], [1, 1], edge_ids=["x", ("A", "B", 1)])
        assert [edge_label(named, k) for k in range(2)] == ["0 → 1 (x)", "0 → 1 (A-B-1)"]

    def test_items(self, shop):
        assert parameter_names(shop.model.problem, table_for(shop.model.problem), [0, 3]) == ["0", "3"]

    def test_parameters_that_are_no_variables(self):
        problem = cio.OracleProblem(
            lambda theta, u: u, n_params=3, n_vars=2, context_width=2, basis=lambda x: [*x, 1.0]
        )
        assert parameter_names(problem, table_for(problem), [2]) == ["parameter 2"]

    def test_markup_is_escaped(self):
        shown = element("p", "<", element("b", "&"), None, class_='"', hidden=True, title=None)
        assert shown == '<p class="&quot;" hidden>&lt;<b>&amp;</b></p>'
        assert '<th scope="row">&lt;i&gt;</th>' in table(["<"], [["<i>"]], "a")


def test_prescriptions_once_per_context():
    asked = []

    def solve(contexts):
        asked.append(len(contexts))
        return contexts * 2

    contexts = np.repeat(np.arange(3000.0)[:, None], 2, axis=0)
    found = prescribed(contexts, solve)
    np.testing.assert_array_equal(found.decisions, contexts * 2)
    assert asked == [2048, 952]
    assert found.gaps is None


def test_wrong_numbers(road):
    for name in ("sample", "shown"):
        with pytest.raises(InvalidInputError, match=f"`{name}` of report"):
            measure(road.model, road.observed, **{name: 0})
