"""
The page of figures is what the recorded lines give.
"""

from __future__ import annotations

from benchmarks.report import PAGE, PLOTS, lines, page


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_curve_has_its_plot_and_keeps_to_its_limits() -> None:
    found = lines("curves")
    assert {path.stem for path in PLOTS.glob("*.svg")} == {line["curve"] for line in found}
    assert all(line["exponent"] <= line["limit"] for line in found if "exponent" in line)


def test_where_both_answered_they_answered_the_same() -> None:
    ratios = [line for line in lines("fleet") if "ratio" in line]
    assert ratios
    assert all(line["same_answer"] is not False for line in ratios)
