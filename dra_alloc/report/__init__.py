"""
Results for people and machines: one table of formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dra_alloc.report.json_report import render_json
from dra_alloc.report.text import render_text
from dra_alloc.scenario.check import Check

__all__ = ["FORMATS"]

#: Format name -> what makes the whole output; `verbose` lifts the limit of one screen.
FORMATS: Final[Mapping[str, Callable[[Check, bool], str]]] = {"text": render_text, "json": render_json}
