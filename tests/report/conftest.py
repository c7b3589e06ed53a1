"""The reports that tests look at, and a browser to look at them."""

import shutil

import pytest
from report_cases import city_case, road_case, shop_case


@pytest.fixture(scope="session")
def city():
    return city_case()


@pytest.fixture(scope="session")
def road():
    return road_case()


@pytest.fixture(scope="session")
def shop():
    return shop_case()


@pytest.fixture(scope="session")
def pages(road, shop, city, tmp_path_factory):
    """Addresses of the pages."""
    folder = tmp_path_factory.mktemp("pages")
    for name, case in (("road", road), ("shop", shop), ("city", city)):
        (folder / f"{name}.html").write_text(case.page(), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in ("road", "shop", "city")}


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs Chromium and its driver (Debian: apt-get install chromium chromium-driver)")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for switch in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()
