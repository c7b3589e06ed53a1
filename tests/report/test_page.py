"""What the page holds: numbers against plain computations, text from data harmless, one file that needs nothing."""

import base64
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from report_cases import HOSTILE, road_case

import conformio as cio
from conformio.errors import InvalidInputError
from conformio.report import Baseline, measure, page_of, write_report
from conformio.report.encoding import packed, packed_whole, ragged, safe_json
from conformio.report.payload import payload

KINDS = {"f4": "<f4", "f8": "<f8", "u1": "u1", "u2": "<u2", "u4": "<u4"}


def unpacked(value):
    return np.frombuffer(base64.b64decode(value["d"]), KINDS[value["t"]])


def routes_in(data, number):
    start, items = unpacked(data["start"]), unpacked(data["items"])
    return items[start[number] : start[number + 1]].tolist()


class TestNumbers:
    def test_levels_equal_the_library(self, road):
        model, evidence = road.model, road.measures.evidence
        nominal = model.predict_nominal(evidence.contexts)
        for one in road.measures.levels:
            robust = model.prescribe(evidence.contexts, one.level)
            assert one.angle == model.angle(one.level)
            assert one.coverage == model.covers(evidence.contexts, evidence.decisions, one.level).mean()
            assert one.band == cio.metrics.coverage_interval(model.n_calibration_, one.level, 100)
            exact = cio.metrics.adherence(robust.decisions, evidence.decisions).mean()
            overlap = cio.metrics.adherence(robust.decisions, evidence.decisions, "jaccard").mean()
            assert (one.kept.exact, one.kept.overlap, one.kept.n) == (exact, overlap, 100)
            assert one.gap == pytest.approx(robust.gap.max(), abs=1e-15)
            differs = [(a != b).any() for a, b in zip(robust.decisions.toarray(), nominal.toarray(), strict=True)]
            assert one.differs == np.mean(differs)
            costs = [float((rows @ model.theta_).sum()) for rows in (robust.decisions, nominal)]
            assert one.extra == pytest.approx(costs[0] / costs[1] - 1)
        assert road.measures.levels[road.measures.own].level == model.confidence_level

    def test_classic_and_baseline(self, road):
        evidence, baseline = road.measures.evidence, road.measures.baseline
        nominal = road.model.predict_nominal(evidence.contexts)
        assert road.measures.classic.exact == cio.metrics.adherence(nominal, evidence.decisions).mean()
        known = np.flatnonzero(baseline.known)
        same = cio.metrics.adherence(baseline.decisions[known], evidence.decisions[known])
        assert (road.measures.baseline_kept.exact, road.measures.baseline_kept.n) == (same.mean(), 90)

    def test_curve_and_histogram(self, road):
        evidence, curve = road.measures.evidence, road.measures.curve
        assert len(curve["level"]) >= 99
        for level, share, low, high in zip(*curve.values(), strict=True):
            rank = int(np.ceil(round(level * 31, 9)))
            angle = np.pi if rank > 30 else np.sort(evidence.scores)[rank - 1]
            assert share == np.mean([a <= angle for a in evidence.angles])
            assert (low, high) == cio.metrics.coverage_interval(30, level, 100)
        for name, angles in (("test", evidence.angles), ("calibration", evidence.scores)):
            shown, edges = road.measures.histogram[name], road.measures.histogram["edges"]
            assert shown["zero"] == np.mean([a == 0 for a in angles])
            assert shown["unexplained"] == np.mean([a == np.pi for a in angles])
            counts = [sum(low < a <= high for a in angles) for low, high in pairwise(edges)]
            np.testing.assert_allclose(shown["bins"], np.array(counts) / len(angles))
            assert shown["zero"] + sum(shown["bins"]) + shown["beyond"] + shown["unexplained"] == pytest.approx(1)

    def test_routes_in_the_page_are_the_decisions(self, road):
        data = payload(road.measures, road.table, road.observed)
        network, evidence = road.model.problem.network, road.measures.evidence
        wanted = {"observed": evidence.decisions, "classic": road.model.predict_nominal(evidence.contexts)}
        for kind, decisions in wanted.items():
            numbers = unpacked(data["decisions"][kind])
            paths = network.paths_from_decisions(decisions)
            assert [routes_in(data["decisions"], k) for k in numbers] == [path.tolist() for path in paths]
        for level, numbers in zip(data["levels"], data["decisions"]["robust"], strict=True):
            paths = network.paths_from_decisions(road.model.predict(evidence.contexts, level["level"]))
            assert [routes_in(data["decisions"], k) for k in unpacked(numbers)] == [path.tolist() for path in paths]
        baseline = unpacked(data["decisions"]["baseline"])
        np.testing.assert_array_equal(baseline > 0, road.measures.baseline.known)
        costs = unpacked(data["network"]["costs"])
        np.testing.assert_allclose(costs, road.model.theta_ / road.model.theta_.mean(), rtol=1e-6)

    def test_a_level_of_ones_own(self, road):
        measures = measure(road.model, road.observed, levels=[0.73])
        assert 0.73 in [one.level for one in measures.levels]

    def test_one_level_alone(self, road):
        model = cio.ConformalIO(road.model.problem, cio.FixedParameters(road.model.theta_), scores="level")
        evidence = road.measures.evidence
        model.conformalize(evidence.contexts[:50], evidence.decisions[:50])
        measures = measure(model, road.observed)
        assert [one.level for one in measures.levels] == [0.9]
        assert measures.histogram["calibration"] is None
        assert measures.curve["level"] == [0.9]
        with pytest.raises(InvalidInputError, match=r"must be 0\.9, the one level calibrated"):
            measure(model, road.observed, levels=[0.5])
        assert "measured on d" in page_of(measures, road.table, road.observed, "m", "d")

    def test_a_baseline_without_rows(self, road):
        evidence = road.measures.evidence
        none = Baseline("none", evidence.decisions, np.zeros(100, dtype=bool))
        measures = measure(road.model, road.observed, none)
        assert measures.baseline_kept is None
        assert payload(measures, road.table, road.observed)["baseline"]["exact"] is None


class TestText:
    def test_json_ends_no_script(self):
        text = safe_json(HOSTILE)
        assert json.loads(text) == HOSTILE
        assert not re.search("[<>&\u2028\u2029]", text)
        with pytest.raises(ValueError, match="JSON"):
            safe_json(float("nan"))

    @pytest.mark.parametrize("name", ["road", "shop"])
    def test_names_are_text(self, name, request):
        page = request.getfixturevalue(name).page()
        tags, texts = parsed(page)
        assert set(tags) <= SAFE_TAGS
        assert tags.count("script") == 2
        assert "model <b>, measured on data & more" in texts
        assert all(k in "".join(texts) for k in (HOSTILE[0], HOSTILE[1]))

    def test_packed_numbers(self):
        for values, kind in (([0, 255], "u1"), ([256], "u2"), ([65536, 1], "u4"), ([], "u1")):
            assert packed_whole(values)["t"] == kind
            assert unpacked(packed_whole(values)).tolist() == values
        assert unpacked(packed([0.5, np.pi], "f8")).tolist() == [0.5, np.pi]
        lists = ragged(np.array([2, 0, 1]), np.array([7, 8, 9]))
        assert (routes_in(lists, 0), routes_in(lists, 1), routes_in(lists, 2)) == ([7, 8], [], [9])


class TestFile:
    def test_it_needs_nothing_else(self, road):
        page = road.page()
        assert not re.search(r"(src|href)=\"(?!#)", page.split("<script type=")[0])
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
        assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|eval\(", page)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy

    def test_equal_input_gives_equal_bytes(self, road):
        assert road_case().page() == road.page()

    def test_written_whole_or_not_at_all(self, tmp_path):
        write_report(tmp_path / "a.html", "θ")
        assert (tmp_path / "a.html").read_bytes() == "θ".encode()
        (tmp_path / "b.html").mkdir()
        with pytest.raises(InvalidInputError, match="must be a file that can be written"):
            write_report(tmp_path / "b.html", "x")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]

    def test_small(self, road, city):
        assert len(road.page()) < 200_000
        assert len(city.page()) < 500_000


class TestHonesty:
    def test_what_is_certified(self, road):
        text = " ".join("".join(parsed(road.page())[1]).split())
        assert "With probability at least 0.9, the cap of" in text
        assert "meets the inverse-feasible set of the next decision" in text
        assert "That the cap contains the parameters θ of the person who decides" in text
        assert "over the draw of the 30 calibration decisions and of the next decision" in text
        assert "Not a test." not in text

    def test_rows_the_model_knows(self, road):
        model = cio.ConformalIO(road.model.problem, cio.FixedParameters(road.model.theta_))
        evidence = road.measures.evidence
        model.conformalize(evidence.contexts, evidence.decisions)
        page = page_of(measure(model, road.observed), road.table, road.observed, "m", "d")
        assert "These are the decisions the model was calibrated on" in page

    def test_a_cap_that_is_everything(self, road):
        evidence = road.measures.evidence
        model = cio.ConformalIO(road.model.problem, cio.FixedParameters(road.model.theta_))
        with pytest.warns(UserWarning, match="at least 9 decisions"):
            model.conformalize(evidence.contexts[:5], evidence.decisions[:5])
        with pytest.warns(UserWarning, match="the angle is pi"):
            measures = measure(model, road.observed)
        page = page_of(measures, road.table, road.observed, "m", "d")
        assert "At level 0.9 nothing: 5 calibration decisions leave the cap with all parameters." in page


SAFE_TAGS = {
    *("html", "head", "meta", "title", "style", "script", "noscript", "body", "header", "main", "section", "footer"),
    *("h1", "h2", "h3", "p", "a", "div", "span", "strong", "code", "button", "progress", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "ul", "li"),
}


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts, self._raw = [], [], False

    def handle_starttag(self, tag, attrs):
        assert not any(name.startswith("on") for name, _ in attrs)
        self.tags.append(tag)
        self._raw = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._raw = False

    def handle_data(self, data):
        if not self._raw:
            self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def parsed(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader.tags, reader.texts
