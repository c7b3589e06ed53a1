"""A torch net as the centre; skipped where torch, which no extra brings, is not installed."""

import numpy as np
import pytest

import conformio as cio

torch = pytest.importorskip("torch", reason="torch is not installed")


class Predictor:
    def __init__(self, net):
        self.net = net.eval()

    def predict(self, rows):
        with torch.no_grad():
            return self.net(torch.as_tensor(rows, dtype=torch.float32)).double().numpy()


@pytest.fixture(scope="module")
def shop():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Softplus())
    problem = cio.OracleProblem(lambda theta, u: np.eye(4)[np.argmin(theta)], 4, feasible_set="binary", context_width=2)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 2))
    costs = Predictor(net).predict(features)
    return net, problem, features, costs, problem.solve(costs * rng.uniform(0.8, 1.2, costs.shape), features)


def test_the_net_is_the_centre(shop):
    net, problem, features, costs, decisions = shop
    model = cio.ConformalIO(problem, cio.FixedParameters(Predictor(net)), 0.8)
    model.conformalize(features[:40], decisions[:40])
    assert model.centers(features) == pytest.approx(costs / np.linalg.norm(costs, axis=1, keepdims=True))
    assert model.scores_ == pytest.approx(cio.conformity_angles(problem, costs[:40], features[:40], decisions[:40]))
    assert model.prescribe(features[40:]).is_certified().all()


def test_the_net_cannot_be_stored_and_says_so(shop, tmp_path):
    net, problem, features, _, decisions = shop
    model = cio.ConformalIO(problem, cio.FixedParameters(Predictor(net)), 0.8).conformalize(features, decisions)
    with pytest.raises(cio.InvalidInputError, match="functions and predictors cannot be stored without pickles"):
        model.save(tmp_path / "model.conformio")


def test_tensors_without_gradients_are_arrays(shop):
    net, problem, features, costs, decisions = shop
    given = torch.as_tensor(features)
    angles = cio.conformity_angles(problem, torch.as_tensor(costs), given, torch.as_tensor(decisions))
    assert angles == pytest.approx(cio.conformity_angles(problem, costs, features, decisions))
    answers = cio.FixedParameters(lambda u: net(torch.as_tensor(u, dtype=torch.float32)).detach())
    assert answers.fit(problem, given).parameters(given) == pytest.approx(costs)
