"""A real browser on the explorer: the system's Chromium, driven by Playwright, which downloads none."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = {"viewport": {"width": 1280, "height": 860}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
PATIENCE = 20_000  # milliseconds, on a busy machine


def need_browser():
    """Return Playwright's module and the path of Chromium, or skip."""
    api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("needs Chromium (apt-get install chromium)")
    return api, path


@contextmanager
def launched():
    """Start Chromium."""
    api, path = need_browser()
    with api.sync_playwright() as playwright:
        # Without a sandbox, which a container's root cannot have; it opens nothing but pages of this machine.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Explorer:
    """The page in a window of its own, with what it asked the server and what went wrong."""

    def __init__(self, browser, address, *, script=None, **window):
        self.address = address
        self.context = browser.new_context(**{**DESKTOP, **window})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.errors, self.requests, self.waiting = [], [], set()
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._asked)
        for event in ("requestfinished", "requestfailed"):
            self.page.on(event, lambda request: self.waiting.discard(request))
        if script:
            self.page.add_init_script(script)

    def _asked(self, request):
        self.requests.append(request)
        self.waiting.add(request)

    def open(self, hash=""):
        """Load the page and wait until list and map are there."""
        self.page.goto(self.address + hash)
        self.settled()
        self.page.locator("#map-message").wait_for(state="hidden")
        return self

    def settled(self):
        """Wait until the answer to the last request is shown."""
        quiet, end = 0, time.monotonic() + PATIENCE / 1000
        while quiet < 4:
            assert time.monotonic() < end, [request.url for request in self.waiting]
            self.page.wait_for_timeout(40)
            quiet = 0 if self.waiting else quiet + 1
        self.page.locator("#list[aria-busy=false]").wait_for()
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def choose(self, text):
        """Type and take the first that is found."""
        self.page.locator("#search").fill(text)
        self.page.locator("#option-0").wait_for()
        self.page.keyboard.press("Enter")
        self.settled()

    @property
    def titles(self):
        return self.page.locator("#list .title").all_text_contents()

    @property
    def chips(self):
        return [text.strip("×").strip() for text in self.page.locator("#chips .chosen").all_text_contents()]

    @property
    def asked(self):
        """The last request for recommendations."""
        sent = [one for one in self.requests if one.url.endswith("/v1/recommend")]
        return json.loads(sent[-1].post_data)

    @property
    def picture(self):
        """The pixels of the map, once it has come to rest."""
        self.page.wait_for_timeout(600)
        return self.page.evaluate("document.getElementById('canvas').toDataURL()")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
