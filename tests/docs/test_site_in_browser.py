"""The site as a reader sees it: in a headless Chromium, by mouse, keyboard and phone.

Needs the site's packages, `pip install selenium`, and Debian's chromium and
chromium-driver; skipped without.
"""

import functools
import http.server
import shutil
import threading

import pytest

webdriver = pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="the browser needs apt-get install chromium chromium-driver",
    ),
]

SWITCHES = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update"),
)
DESKTOP = (1280, 900)
PHONE = (390, 844)
PAGES = ("index.html", "tutorial.html", "benchmarks.html", "models.html", "errors.html")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and prints nothing."""

    def log_message(self, *_):
        """Says nothing."""


@pytest.fixture(scope="module")
def address(site):
    """Returns where the site is served."""
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Returns a headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "SEVERE"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def opened(browser, address, page, size=DESKTOP):
    """Opens a page in a window of some width and height."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": size[0],
            "height": size[1],
            "deviceScaleFactor": 1,
            "mobile": size == PHONE,
        },
    )
    browser.get(f"{address}/{page}")
    wait(browser, "return document.readyState == 'complete'")


def wait(browser, script):
    """Waits until a script returns something true; returns it."""
    return WebDriverWait(browser, 30).until(lambda b: b.execute_script(script))


def test_a_click_in_the_navigation_opens_a_page(browser, address):
    opened(browser, address, "index.html")
    link = browser.find_element(By.CSS_SELECTOR, "nav a[href$='tutorial.html']")
    browser.execute_script("arguments[0].click()", link)
    wait(browser, "return location.pathname.endsWith('tutorial.html')")
    active = browser.find_element(By.CSS_SELECTOR, "nav a.md-nav__link--active")
    assert active.get_attribute("href").partition("#")[0].endswith("tutorial.html")


def test_the_search_finds_a_page_by_a_word(browser, address):
    opened(browser, address, "index.html")
    field = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys("TreeEncoder")
    found = wait(
        browser,
        "return [...document.querySelectorAll('.md-search-result__link')]"
        ".map(link => link.getAttribute('href'))",
    )
    assert any("layers" in link for link in found), found
    field.send_keys(Keys.ENTER)
    wait(browser, "return !location.pathname.endsWith('index.html')")


def test_pictures_of_the_notebooks_are_drawn(browser, address, site):
    pages = sorted(path.name for path in (site / "notebooks").glob("*.html"))
    assert pages
    for page in pages:
        opened(browser, address, f"notebooks/{page}")
        widths = browser.execute_script(
            "return [...document.querySelectorAll('article img')]"
            ".map(image => image.naturalWidth)"
        )
        assert widths, page
        assert min(widths) > 0, page


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_the_width_of_a_phone(browser, address, page):
    opened(browser, address, page, PHONE)
    width = browser.execute_script("return document.scrollingElement.scrollWidth")
    assert width <= PHONE[0]
    size = browser.execute_script(
        "return getComputedStyle(document.querySelector('article p')).fontSize"
    )
    assert float(size.removesuffix("px")) >= 14


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_without_an_error_of_the_browser(browser, address, page):
    opened(browser, address, page)
    assert browser.get_log("browser") == []
