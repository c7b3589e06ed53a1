"""Every comparison in its smallest form: it ends, both sides agree; what is missing is a reason."""

import sys

import numpy as np
import pytest

import conformio as cio
from conformio.networks import Network
from conformio.problems import ShortestPath
from conformio.studies.benchmarks import COMPARISONS, Settings, SkippedError, Timing, million, perturbed, startup
from conformio.studies.benchmarks.gurobi_cuts import GurobiCuts
from conformio.studies.benchmarks.knapsack_cuts import minimise_by_cuts
from conformio.studies.benchmarks.own_process import need_installed
from conformio.studies.benchmarks.strong_duality import StrongDuality

RUN = {one.name: one.run for one in COMPARISONS}
INTERPRETERS = {"import", "warm-command", "cold-demo"}
PEERS = {"robust-paths-gurobi", "perturbed", "knapsack-training"}
TNTP = {"regional-angles", "robust-nominal-region"}
LONG = {"region-million", "region-million-all"}


def write_tntp(folder, side=7):
    """A grid in the format of the public networks, named as the one that comparisons ask for."""
    network = Network.grid(side, side)
    cost = np.random.default_rng(0).integers(1, 9, network.n_edges)
    rows = [
        f"\t{i + 1}\t{j + 1}\t1\t1\t{c}\t0\t4\t0\t0\t1\t;"
        for i, j, c in zip(network.tails, network.heads, cost, strict=True)
    ]
    counts = {"ZONES": side, "NODES": side**2, "LINKS": network.n_edges}
    head = "<FIRST THRU NODE> 1\n" + "".join(f"<NUMBER OF {what}> {count}\n" for what, count in counts.items())
    names = "~\tinit_node\tterm_node\tcapacity\tlength\tfree_flow_time\tb\tpower\tspeed\ttoll\tlink_type\t;"
    text = head + "<END OF METADATA>\n\n" + names + "\n" + "\n".join(rows) + "\n"
    (folder / "ChicagoRegional_net.tntp").write_text(text)
    return folder


@pytest.mark.parametrize("name", sorted(set(RUN) - INTERPRETERS - PEERS - TNTP - LONG))
def test_small_forms_end_and_agree(name, monkeypatch):
    outcome = RUN[name](Settings(quick=True))
    assert outcome.lines
    assert outcome.timings
    assert all(check.holds for check in outcome.checks), outcome.checks
    for line in outcome.lines:
        assert 0.0 < line.low <= line.value <= line.high


@pytest.mark.parametrize("name", sorted(TNTP))
def test_real_networks(name, tmp_path):
    with pytest.raises(SkippedError, match="pass --data"):
        RUN[name](Settings(quick=True))
    outcome = RUN[name](Settings(quick=True, data=write_tntp(tmp_path)))
    assert all(check.holds for check in outcome.checks), outcome.checks
    assert "ChicagoRegional" in outcome.lines[0].work


@pytest.mark.parametrize("compare", [million.one_angle, million.all_angles])
def test_many_trips(compare, tmp_path):
    outcome = compare(Settings(quick=True, data=write_tntp(tmp_path)))
    assert [check.value for check in outcome.checks] == [0.0]
    assert outcome.lines[1].unit == "GiB"


def test_simulated_trips_do_not_depend_on_how_many_there_are():
    network = Network.grid(5, 5)
    center = np.random.default_rng(0).uniform(1.0, 2.0, network.n_edges)
    trips, routes = million.simulated_trips(network, center, 25, group=10)
    assert routes.dtype == np.int8
    assert routes.indices.dtype == np.int32
    assert ShortestPath(network).is_feasible(routes, trips).all()
    first, _ = million.simulated_trips(network, center, 10, group=10)
    np.testing.assert_array_equal(trips[:10], first)


def test_algorithms_for_angles_on_a_real_network(tmp_path):
    outcome = RUN["angle-methods"](Settings(quick=True, data=write_tntp(tmp_path)))
    assert all(check.holds for check in outcome.checks), outcome.checks
    assert any("ChicagoRegional" in line.work for line in outcome.lines)
    errors = {name: value for name, value in outcome.facts.items() if name.startswith("largest relative error")}
    assert len(errors) == 12
    assert max(value for name, value in errors.items() if "L-BFGS" not in name) < 1e-6


@pytest.mark.parametrize("name", sorted(PEERS))
def test_peers_or_the_command_that_installs_them(name):
    try:
        outcome = RUN[name](Settings(quick=True))
    except SkippedError as reason:
        pytest.skip(str(reason))
    assert all(check.holds for check in outcome.checks), outcome.checks


def test_training_beside_a_peer_that_is_played(monkeypatch):
    """Both sides of the comparison, PyEPO's own part replaced."""
    monkeypatch.setattr(perturbed, "train_pyepo", lambda routes, epochs: (np.ones(routes.shape[1]), epochs * 10))
    outcome = perturbed.train_both(Settings(quick=True))
    assert outcome.facts["steps"] == 10
    assert [check.holds for check in outcome.checks] == [True, True]
    monkeypatch.setattr(perturbed, "need_installed", lambda module, install: None)
    monkeypatch.setattr(perturbed, "in_own_process", lambda compare, settings: compare(settings))
    assert RUN["perturbed"](Settings(quick=True)).lines


def test_the_reason_names_what_is_missing(monkeypatch):
    monkeypatch.setattr(perturbed, "need_installed", lambda module, _: need_installed(f"no_{module}", "pip install it"))
    with pytest.raises(SkippedError, match="no_torch is not installed; pip install it"):
        RUN["perturbed"](Settings())
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(SkippedError, match=r"gurobipy cannot be imported .* which needs a licence"):
        GurobiCuts.loaded()


class PlayedError(Exception):
    pass


def test_a_gurobi_without_a_licence(monkeypatch):
    class Played:
        GurobiError = PlayedError

        @staticmethod
        def Env(params):
            raise PlayedError("no licence")

    monkeypatch.setitem(sys.modules, "gurobipy", Played())
    with pytest.raises(SkippedError, match="Gurobi does not start: no licence"):
        GurobiCuts.loaded()


def test_interpreters_are_started_and_timed(monkeypatch):
    started = []
    monkeypatch.setattr(startup, "_python", lambda *words, **places: started.append((words, places)))
    for name in sorted(INTERPRETERS):
        assert RUN[name](Settings(quick=True)).lines
    words = [" ".join(words) for words, _ in started]
    assert any("sklearn.base, numba" in one for one in words)
    assert any(" fit " in one for one in words)
    caches = [places["cache"] for _, places in started if places.get("cache")]
    assert len(caches) == 2
    assert len(set(caches)) == 1


def test_an_interpreter_with_a_cache_of_its_own(tmp_path):
    code = "import os, pathlib; pathlib.Path('seen').write_text(os.environ['NUMBA_CACHE_DIR'])"
    startup._python("-c", code, folder=str(tmp_path), cache="here")
    assert (tmp_path / "seen").read_text() == "here"


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_strong_duality_equals_the_reference(seed, skip):
    rng = np.random.default_rng(seed)
    network = Network(np.array([0, 0, 0, 1, 2, 1, 3]), np.array([1, 1, 2, 3, 3, 2, 0]))
    problem = ShortestPath(network)
    center = rng.uniform(1.0, 5.0, network.n_edges)
    routes = problem.solve(rng.uniform(1.0, 5.0, (6, network.n_edges)), [[0, 3]] * 6)
    programs = StrongDuality(network, center, skip)
    walks = network.paths_from_decisions(routes)
    found = [programs.angle(0, 3, np.asarray(walk)) for walk in walks]
    expected = cio.conformity_angles(problem, center, [[0, 3]] * 6, routes, method="reference")
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert max(found) > 0.0


def test_cutting_planes_end_with_the_answer_or_with_the_clock():
    rng = np.random.default_rng(0)
    weights, cap = rng.uniform(1.0, 5.0, 8), cio.SphericalCap(rng.uniform(1.0, 5.0, 8), 0.2)
    found = minimise_by_cuts(weights, 0.5 * weights.sum(), cap, 30.0)
    exact = cio.solve_robust(cio.Knapsack(weights), cap, [[0.5 * weights.sum()]]).values[0]
    assert found.finished
    assert found.value == pytest.approx(exact, rel=1e-6)
    assert found.bound >= exact - 1e-9
    assert not minimise_by_cuts(weights, 10.0, cap, 0.0).finished


def test_the_clock_of_the_solver_stops_it(monkeypatch):
    weights = np.random.default_rng(1).uniform(1.0, 5.0, 200)
    cap = cio.SphericalCap(weights + np.random.default_rng(2).uniform(0, 0.1, 200), 0.2)
    assert not minimise_by_cuts(weights, 0.5 * weights.sum(), cap, 0.05).finished


def test_timings_are_by_item():
    one = Timing("x", (4.0, 2.0), 2)
    assert (one.median, one.low, one.high) == (1.5, 1.0, 2.0)
