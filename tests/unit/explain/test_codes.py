"""
Reason codes: every code in the source is documented, every documented code is used.
"""

from __future__ import annotations

import re

from dra_alloc.explain.codes import DEVICE_CODES, FACT_CODES, NODE_CODES, render_page
from tests.paths import ROOT

FLOORS = ("rules", "solve", "explain", "pods", "cluster", "scenario")
PATTERNS = (
    r'\bcode(?:: ClassVar\[str\])? ?= ?"([a-z-]+)"',
    r'\bReason\(\s*"([a-z-]+)"',
    r'\bFact\(\s*"([a-z-]+)"',
    r'\bObjection\(\s*"([a-z-]+)"',
    r'\bWaiting\([\w.]+, "([a-z-]+)"',
    r'\bUnschedulable\([\w.]+, [\w.]+, "([a-z-]+)"',
    r'\bNodeRefusal\(\s*name, "([a-z-]+)"',
    r'return "([a-z-]+)", (?:f?"|self)',
    r'^ +"([a-z]+(?:-[a-z]+)+)",$',
    r', "([a-z]+(?:-[a-z]+)+)"\)$',
    r', "([a-z]+(?:-[a-z]+)+)", work, on_node',
    r'Aborted\(str\(error\), "([a-z-]+)"',
    r'code = "([a-z-]+)" if .* else "([a-z-]+)"',
    r'^[A-Z_]*CODE: Final = "([a-z-]+)"$',
)


def codes_in_source() -> set[str]:
    found: set[str] = set()
    for floor in FLOORS:
        for path in (ROOT / "dra_alloc" / floor).rglob("*.py"):
            if path.name == "codes.py":
                continue
            text = path.read_text(encoding="utf-8")
            for pattern in PATTERNS:
                for match in re.finditer(pattern, text, re.MULTILINE):
                    found.update(group for group in match.groups() if group)
    return found


def test_every_documented_code_is_used_and_every_code_documented() -> None:
    documented = {*DEVICE_CODES, *NODE_CODES, *FACT_CODES}
    used = codes_in_source()
    assert documented - used == set()
    engines = {"first-fit", "cp-sat"}
    assert {code for code in used - documented - engines if "-" in code} == set()


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / "reasons.md").read_text(encoding="utf-8") == render_page()
