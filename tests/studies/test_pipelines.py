"""Conditions and the two pipelines: splits, tie rules against lists of all optima, gaps against direct sums."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import conformio as cio
from conformio import metrics
from conformio.studies import pipelines
from conformio.studies.conditions import BUDGETS, ESTIMATORS, LAWS, Condition, base_conditions, true_parameters
from conformio.studies.paper_data import SimulatedDecisions
from conformio.studies.pipelines import TIE_RULES, Split, Trial, finite_levels, gain

PATHS = Condition("shortest path", "sub-optimality", "nonnegative")
FLOWS = Condition("shortest path", "sub-optimality", "free")
ITEMS = Condition("knapsack", "sub-optimality", "free")
SMALL = Split(30, 20, 8)


def trial(condition=PATHS, split=SMALL, seed=0, n_people=None):
    return Trial(condition, split, seed, n_people)


def dense(decisions):
    return decisions.toarray() if sparse.issparse(decisions) else np.asarray(decisions)


class TestConditions:
    def test_knapsacks_have_budgets_and_paths_have_none(self):
        assert ITEMS.budgets == "1/5 to 4/5"
        assert PATHS.labels()["budgets"] is None
        with pytest.raises(cio.InvalidInputError, match="budgets"):
            Condition("shortest path", "sub-optimality", "free", budgets="1/5 to 4/5")

    @pytest.mark.parametrize("wrong", [("tour",), ("knapsack", "guess"), ("knapsack", "sub-optimality", "free", "?")])
    def test_unknown_words_are_refused(self, wrong):
        with pytest.raises(cio.InvalidInputError, match="must be one of"):
            Condition(*[*wrong, "sub-optimality", "free"][: max(3, len(wrong))])

    def test_settings_make_the_same_condition(self):
        assert Condition(**ITEMS.as_settings()) == ITEMS

    def test_estimator_and_signs_do_not_change_the_people(self):
        one = PATHS.people(20, seed=3)
        other = Condition("shortest path", "Fenchel-Young", "free").people(20, seed=3)
        assert np.array_equal(one.thetas, other.thetas)
        assert np.array_equal(one.contexts, other.contexts)
        assert other.problem.domain == "free"

    @pytest.mark.parametrize("law", LAWS)
    def test_laws_are_what_they_are_called(self, law):
        drawn = true_parameters(law, 4000, seed=0)
        bounds = LAWS[law]
        if bounds is None:
            assert np.median(drawn) == pytest.approx(np.exp(1.5), rel=0.05)
            assert np.log(drawn).std() == pytest.approx(0.5, rel=0.05)
        else:
            assert bounds[0] <= drawn.min() < drawn.max() <= bounds[1]
            assert drawn.mean() == pytest.approx(sum(bounds) / 2, rel=0.05)

    @pytest.mark.parametrize("budgets", BUDGETS)
    def test_budgets_are_shares_of_the_total_weight(self, budgets):
        people = Condition("knapsack", "sub-optimality", "free", budgets=budgets).people(300, seed=0)
        shares = people.contexts[:, 0] / people.problem.weights.sum()
        low, high = BUDGETS[budgets]
        assert low <= shares.min() < shares.max() <= high
        assert shares.mean() == pytest.approx((low + high) / 2, rel=0.1)

    def test_base_conditions_are_both_problems_with_both_estimators(self):
        found = base_conditions()
        assert {(one.problem, one.estimator) for one in found} == set(
            itertools.product(("shortest path", "knapsack"), ESTIMATORS)
        )
        assert len(found) == len(set(found)) == 6

    def test_the_estimators_are_the_papers(self):
        assert isinstance(PATHS.point_estimator(0), cio.SuboptimalityLoss)
        other = Condition("knapsack", "Fenchel-Young", "free").point_estimator(5)
        assert isinstance(other, cio.PerturbedFenchelYoung)
        assert (other.random_state, other.epochs, other.batch_size, other.learning_rate) == (5, 20, 64, 0.1)


class TestSplit:
    @pytest.mark.parametrize("n", [1000, 300, 101])
    def test_the_papers_split(self, n):
        split = Split.paper(n)
        assert sum(split) == n
        assert split.calibration == split.test == n // 5

    def test_parts_follow_each_other_and_the_test_part_is_last(self):
        one = trial(n_people=80)
        assert np.array_equal(one.known.contexts, one.data.contexts[:50])
        assert np.array_equal(one.calibration.contexts, one.data.contexts[30:50])
        assert np.array_equal(one.test.contexts, one.data.contexts[72:])
        assert np.array_equal(one.test.contexts, trial(split=Split(50, 10, 8), n_people=80).test.contexts)

    def test_levels_that_so_few_can_certify(self):
        assert finite_levels((0.0, 0.5, 0.9, 0.95), 9) == [0.0, 0.5, 0.9]


@pytest.fixture(scope="module")
def one():
    return trial(Condition("shortest path", "Fenchel-Young", "nonnegative"))


class TestPipelines:
    def test_estimates_are_of_their_parts(self, one):
        for part, theta in ((one.known, one.classic_theta), (one.training, one.conformal_theta)):
            fresh = cio.PerturbedFenchelYoung(random_state=0).fit(one.problem, part.contexts, part.decisions)
            assert np.array_equal(theta, fresh.theta_)

    def test_it_is_the_librarys_pipeline(self, one):
        model = cio.ConformalIO(one.problem, cio.FixedParameters(one.conformal_theta), confidence_level=0.5)
        model.conformalize(one.calibration.contexts, one.calibration.decisions)
        assert one.angle(0.5) == pytest.approx(model.angle_, abs=1e-12)
        assert np.array_equal(dense(one.robust(one.angle(0.5))), dense(model.predict(one.test.contexts)))
        covered = model.covers(one.test.contexts, one.test.decisions)
        assert np.array_equal(one.test_angles <= one.angle(0.5), covered)

    def test_gaps_are_the_metrics_of_the_test_rows(self, one):
        decisions = one.robust(0.0)
        found = one.gaps(decisions)
        assert found["aog"] == metrics.actual_optimality_gap(
            one.problem, one.data.theta_true, one.test.contexts, decisions
        )
        assert found["pog"] == metrics.perceived_optimality_gap(
            one.problem, one.test.thetas, one.test.contexts, decisions
        )
        assert found["adherence"] == metrics.adherence(decisions, one.test.decisions).mean()
        assert one.relaxed_gaps(decisions) == pytest.approx({name: found[name] for name in ("aog", "pog")}, abs=1e-9)

    def test_copies_of_a_decision_have_its_gaps(self, one):
        once = one.nominal(one.classic_theta, "alpha -> 0+", 1)
        thrice = one.nominal(one.classic_theta, "alpha -> 0+", 3)
        assert thrice.shape[0] == 3 * once.shape[0]
        assert one.gaps(thrice) == pytest.approx(one.gaps(once))

    def test_tiny_angles_count_as_zero(self, one, monkeypatch):
        monkeypatch.setattr(pipelines, "conformity_angles", lambda *arguments: np.array([0.0, 1e-8, 1e-6]))
        assert one.angles(one.test).tolist() == [0.0, 0.0, 1e-6]

    def test_a_prescription_is_computed_once(self, one):
        assert one.robust(0.25) is one.robust(0.25)
        assert one.robust(0.25) is not one.robust(0.25, relaxed=True)


def given(problem, contexts):
    """A trial whose data are given; the people decide by their own parameters, all ones."""
    n = len(contexts)
    thetas = np.ones((n, problem.n_params))
    data = SimulatedDecisions(problem, np.ones(problem.n_params), thetas, contexts, problem.solve(thetas, contexts))

    class Given(Condition):
        def people(self, n_people, seed):
            return data

    paths = isinstance(problem, cio.ShortestPath)
    condition = Given("shortest path" if paths else "knapsack", "sub-optimality", problem.domain)
    return Trial(condition, Split(0, 0, n), 0)


@pytest.fixture(scope="module")
def paths():
    # 0 -> 3 directly costs 2; over 1, and over 1 and 2, as well
    tails, heads = [0, 0, 1, 1, 2], [3, 1, 3, 2, 3]
    network = cio.Network(np.array(tails), np.array(heads), 4)
    return given(cio.ShortestPath(network), np.tile([0.0, 3.0], (300, 1)))


@pytest.fixture(scope="module")
def items():
    return given(cio.Knapsack([1.0, 1.0, 2.0, 5.0]), np.full((300, 1), 2.0))


class TestTies:
    """All costs 1 but for a detour that ties: every optimum is listed by hand."""

    COSTS = np.array([2.0, 1.0, 1.0, 0.5, 0.5])
    OPTIMA = ((1, 0, 0, 0, 0), (0, 1, 1, 0, 0), (0, 1, 0, 1, 1))

    VALUES = np.array([1.0, 1.0, 2.0, 1.0])
    FULL = ((1, 1, 0, 0), (0, 0, 1, 0))

    @pytest.mark.parametrize("rule", TIE_RULES)
    def test_every_rule_gives_optima(self, paths, items, rule):
        for one, theta, optima in ((paths, self.COSTS, self.OPTIMA), (items, self.VALUES, self.FULL)):
            found = {tuple(row) for row in dense(one.nominal(theta, rule, 1)).astype(int)}
            assert found <= set(optima)
            if rule in ("fewest ones", "alpha -> 0+"):
                assert found == {min(optima, key=sum)}

    def test_uniform_is_uniform(self, paths, items):
        for one, theta, optima in ((paths, self.COSTS, self.OPTIMA), (items, self.VALUES, self.FULL)):
            drawn = [tuple(row) for row in dense(one.nominal(theta, "uniform", 4)).astype(int)]
            assert len(drawn) == 1200
            assert one.uncounted_ties == 0.0
            for optimum in optima:
                share = drawn.count(optimum) / len(drawn)
                assert share == pytest.approx(1 / len(optima), abs=4.5 * 0.5 / np.sqrt(len(drawn)))

    def test_ties_too_many_to_count_are_broken_by_small_costs(self, paths, monkeypatch):
        def too_many(*arguments):
            raise cio.SolverError("sample_optimal", "too many ties")

        with monkeypatch.context() as patched:
            patched.setattr(paths.problem, "sample_optimal", too_many)
            drawn = dense(paths.nominal(self.COSTS, "uniform", 1)).astype(int)
            assert paths.uncounted_ties == 1.0
        found = {tuple(row) for row in drawn}
        assert 2 <= len(found) <= 3
        assert found <= set(self.OPTIMA)

    def test_only_rows_with_too_many_ties_are_drawn_by_costs(self, monkeypatch):
        network = cio.Network.grid(2, 2)
        contexts = np.array([[0.0, 3.0], [0.0, 1.0], [0.0, 3.0], [3.0, 2.0]])
        one = given(cio.ShortestPath(network), contexts)
        sample = one.problem.sample_optimal

        def refuse_the_corner(theta, rows, rng):
            if (rows[:, 1] == 3.0).any():
                raise cio.SolverError("sample_optimal", "too many ties", 0)
            return sample(theta, rows, rng)

        monkeypatch.setattr(one.problem, "sample_optimal", refuse_the_corner)
        decisions = one.nominal(np.ones(network.n_edges), "uniform", 1)
        assert one.uncounted_ties == 0.5
        assert one.problem.is_optimal(np.ones(network.n_edges), decisions, contexts).all()

    def test_fewest_ones_of_a_maximum_with_nonnegative_values(self):
        one = given(cio.Knapsack([1.0, 1.0], domain="nonnegative"), np.full((1, 1), 2.0))
        assert dense(one.nominal(np.array([0.0, 1.0]), "fewest ones", 1)).tolist() == [[0.0, 1.0]]


class TestCycles:
    def test_cycles_are_seen_beside_the_path_and_on_it(self):
        # a path 0 -> 1 -> 2, a loop 1 -> 3 -> 1 on it, a loop 4 -> 5 -> 4 beside it
        tails, heads = np.array([0, 1, 1, 3, 4, 5]), np.array([1, 2, 3, 1, 5, 4])
        one = given(cio.ShortestPath(cio.Network(tails, heads, 6)), np.tile([0.0, 2.0], (3, 1)))
        flows = sparse.csr_array(np.array([[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1]], dtype=float))
        assert one.cycle_share(flows) == pytest.approx(2 / 3)
        assert one.cycle_share(flows[[0, 0, 0]]) == 0.0

    def test_knapsacks_have_none(self):
        one = given(cio.Knapsack([1.0]), np.ones((1, 1)))
        assert one.cycle_share(np.ones((1, 1))) is None


def test_gain_over_nothing_is_nothing():
    assert gain(0.5, 2.0) == 0.75
    assert gain(0.5, 0.0) is None
