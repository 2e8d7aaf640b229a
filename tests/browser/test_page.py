"""
Pages as a reader meets them: in a browser, on a phone and a desk, by keyboard alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dra_alloc.cli.main import run
from tests.cli.test_page import CHECK, HOSTILE, WHAT_IF, hostile

__all__ = ["hostile"]

WIDTHS = (360, 1440)


@pytest.fixture
def opened(browser, tmp_path, capsys):
    """Opens the page of a command at a width, and returns it with every request and complaint of it."""
    pages = []

    def opening(asked: list[str], width: int, scheme: str = "light") -> tuple[Any, list[str]]:
        file = Path(tmp_path / "page.html")
        run(asked)
        file.write_text(capsys.readouterr().out, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        pages.append(page)
        heard: list[str] = []
        page.on("request", lambda each: heard.append(each.url))
        page.on("console", lambda each: heard.append(each.text))
        page.on("pageerror", lambda each: heard.append(str(each)))
        page.on("dialog", lambda each: heard.append(each.message))
        page.goto(file.as_uri())
        heard.remove(file.as_uri())
        return page, heard

    yield opening
    for each in pages:
        each.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("asked", [CHECK, WHAT_IF], ids=["check", "what-if"])
def test_pages_fit_and_load_nothing(opened, asked, width):
    page, heard = opened(asked, width)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not heard


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_serious(opened, width, scheme):
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - it may not be there

    page, _ = opened(WHAT_IF, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    # What axe-core injects is no part of the page: its own context may run scripts.
    found = Axe().run(page).response["violations"]
    assert not [(each["id"], each["impact"]) for each in found if each["impact"] in ("serious", "critical")]


def test_names_stay_text_in_a_browser(opened, hostile):
    page, heard = opened(hostile, 1440)
    assert HOSTILE in page.inner_text("main")
    assert page.locator("img").count() == 0
    assert not heard


def test_a_node_opens_by_keyboard(opened):
    page, _ = opened(WHAT_IF, 1440)
    page.locator(".answer summary").last.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.parentElement.className") == "node"
    assert not page.locator(".node table").first.is_visible()
    page.keyboard.press("Enter")
    assert page.locator(".node table").first.is_visible()
    assert page.locator(".node table").first.locator("tbody tr").count() == 2


def test_filters_are_reached_and_set_by_keyboard(opened):
    page, _ = opened(WHAT_IF, 360)
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "changed":
            break
    page.keyboard.press("Space")
    assert page.locator(".node:visible").count() == 3
    assert page.inner_text("#count") == "4 of 4 answers, 3 of 4 nodes"
    page.locator("#class").select_option("0")
    assert page.locator(".node:visible").count() == 3
    page.locator("#space").select_option("shop")
    assert page.locator(".node:visible").count() < 4


def test_paper_has_everything(opened):
    page, _ = opened(CHECK, 1440)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details')].every((each) => each.open)")
