"""The page in real headless Chromium: no errors, no requests, and choices that change the picture."""

import json

import pytest
from report_cases import HOSTILE

By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

WINDOW = "Emulation.setDeviceMetricsOverride"
PIXELS = """
const canvas = document.getElementById("map");
return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(canvas.toDataURL()))));
"""

LABELS = """
const canvas = document.getElementById("map"), seen = [];
CanvasRenderingContext2D.prototype.measureText = (text) => ({ width: 40 * text.length });  // a wide font
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
  const size = Math.min(most ?? 0, this.measureText(text).width), left = this.textAlign === "right" ? x - size : x;
  if (most) seen.push([text, left, left + size]);
};
[...document.querySelectorAll("button")].find((one) => one.textContent === "Whole network").click();
return new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done([canvas.clientWidth, seen]))));
"""

UNNAMED = """
const named = (one) => one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length;
const all = document.querySelectorAll("input, select, canvas[tabindex], svg[role=img], button");
return [...all].filter((one) => !named(one)).map((one) => one.outerHTML);
"""


def look(browser, address, width=1200, height=900, scheme="light"):
    """Open a page afresh; what was logged before is forgotten."""
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd(WINDOW, metrics)
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(address)


def text(browser, name):
    return browser.find_element(By.ID, name).text


def texts(browser, selector):
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return browser.execute_script(script, selector)


def requests_of(browser):
    entries = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [e["params"]["request"]["url"] for e in entries if e["method"] == "Network.requestWillBeSent"]


@pytest.mark.parametrize("name", ["road", "shop", "city"])
def test_loads_without_errors_or_requests(browser, pages, name):
    look(browser, pages[name])
    assert browser.get_log("browser") == []
    assert set(requests_of(browser)) <= {pages[name]}
    assert text(browser, "level-now") == "0.9"
    shapes = browser.execute_script("return [...document.querySelectorAll('svg path')].map((p) => p.getAttribute('d'))")
    assert len(shapes) >= 4
    assert not any("NaN" in shape for shape in shapes)


def test_names_stay_text(browser, pages):
    look(browser, pages["road"])
    assert browser.execute_script("return document.querySelectorAll('img, b, main script').length") == 0
    options = texts(browser, "#pick-one option")
    assert len(options) == 100
    assert any(option.startswith(HOSTILE[1]) for option in options)
    look(browser, pages["shop"])
    assert texts(browser, "#single tbody th") == HOSTILE[:5]


def test_the_slider_moves_numbers_and_pictures(browser, pages, road):
    look(browser, pages["road"])
    slider = browser.find_element(By.ID, "level")

    def shown():
        charts = browser.execute_script(
            "return ['coverage-chart', 'angle-chart', 'level-chart'].map((id) => document.getElementById(id).innerHTML)"
        )
        return charts, text(browser, "tiles")

    charts, tiles = shown()
    slider.send_keys(Keys.HOME)
    first = road.measures.levels[0]
    assert text(browser, "level-now") == f"{first.level:g}"
    assert slider.get_attribute("aria-valuetext") == f"level {first.level:g}"
    after, words = shown()
    assert all(a != b for a, b in zip(charts, after, strict=True))
    assert words != tiles
    for share in (first.coverage, first.kept.exact, first.kept.overlap, first.differs):
        assert f"{share:.1%}" in words
    slider.send_keys(Keys.ARROW_RIGHT)
    assert text(browser, "level-now") == f"{road.measures.levels[1].level:g}"


def test_the_trip_chosen_changes_map_and_words(browser, pages):
    look(browser, pages["road"])
    before, words = browser.execute_script(PIXELS), text(browser, "trip-words")
    browser.find_element(By.ID, "pick-next").click()
    after = browser.execute_script(PIXELS)
    assert after != before
    assert text(browser, "trip-words") != words
    browser.find_element(By.ID, "pick-back").click()
    assert browser.execute_script(PIXELS) == before
    assert text(browser, "trip-words") == words
    browser.find_element(By.ID, "pick-search").send_keys("script> 36")
    assert "36" in text(browser, "trip-words").splitlines()[0]
    browser.find_element(By.ID, "pick-search").send_keys("nothing at all")
    assert "No trip found" in text(browser, "single")


def test_names_of_nodes_end_inside_the_map(browser, pages):
    look(browser, pages["road"])
    width, labels = browser.execute_script(LABELS)
    assert len(labels) == 16
    assert not [label for label in labels if not 0 <= label[1] < label[2] <= width]


def test_a_decision_without_a_map(browser, pages):
    look(browser, pages["shop"])
    before = text(browser, "trip-words")
    browser.find_element(By.ID, "pick-next").click()
    assert text(browser, "trip-words") != before
    assert "observed" in before
    assert "robust" in before


def test_the_map_by_keys_and_mouse(browser, pages):
    look(browser, pages["road"])
    start = browser.execute_script(PIXELS)
    canvas = browser.find_element(By.ID, "map")
    browser.execute_script("arguments[0].focus()", canvas)
    seen = {start}
    for key in ("+", Keys.ARROW_LEFT, Keys.ARROW_UP, "-"):
        browser.switch_to.active_element.send_keys(key)
        seen.add(browser.execute_script(PIXELS))
    assert len(seen) == 5
    browser.switch_to.active_element.send_keys("0")
    assert browser.execute_script(PIXELS) == start
    send = {"type": "mousePressed", "x": 300, "y": 0, "button": "left", "clickCount": 1}
    box = browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'}); "
        "const b = arguments[0].getBoundingClientRect(); return [b.x + 100, b.y + 100]",
        canvas,
    )
    for kind, by in (("mousePressed", 0), ("mouseMoved", 60), ("mouseReleased", 60)):
        event = {**send, "type": kind, "x": box[0] + by, "y": box[1], "buttons": 1}
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    assert browser.execute_script(PIXELS) != start


def test_everything_is_reached_by_tab(browser, pages):
    look(browser, pages["road"])
    wanted = ["theme", "level", "pick-kind", "pick-search", "pick-one", "pick-next", "map"]
    reached = []
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(browser.switch_to.active_element.get_attribute("id"))
    assert [name for name in dict.fromkeys(reached) if name in wanted] == wanted
    assert browser.execute_script(UNNAMED) == []


def test_ten_thousand_edges_are_drawn_and_zoomed(browser, pages):
    look(browser, pages["city"])
    near = browser.execute_script(PIXELS)
    browser.execute_script("document.querySelectorAll('.zoom button')[2].click()")
    whole = browser.execute_script(PIXELS)
    assert near != whole
    count = "return new Set(document.getElementById('map').getContext('2d').getImageData(0, 0, 600, 400).data).size"
    assert browser.execute_script(count) > 50
    browser.find_element(By.ID, "pick-next").click()
    assert browser.execute_script(PIXELS) not in (near, whole)


def test_dark(browser, pages):
    ground = "return getComputedStyle(document.body).backgroundColor"
    look(browser, pages["road"])
    light, map_light = browser.execute_script(ground), browser.execute_script(PIXELS)
    look(browser, pages["road"], scheme="dark")
    dark, map_dark = browser.execute_script(ground), browser.execute_script(PIXELS)
    assert light != dark
    assert map_light != map_dark
    browser.find_element(By.ID, "theme").click()
    assert browser.execute_script(ground) == light
    assert browser.execute_script(PIXELS) == map_light


@pytest.mark.parametrize("name", ["road", "shop"])
def test_a_phone(browser, pages, name):
    look(browser, pages[name], width=360, height=740)
    assert browser.execute_script("return document.documentElement.scrollWidth") == 360
    assert browser.get_log("browser") == []
