"""
Reason codes: every code in the source is documented, every documented code is used.
"""

from __future__ import annotations

import re

import pytest

from dra_alloc.cluster.attempts.grouping import GROUP_CODE
from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.codes import DEVICE_CODES, FACT_CODES, NODE_CODES, STRANDED_CODES, render_page
from dra_alloc.report.refusals import first_cause
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
OF_NO_NODE = (
    r'\bObjection\(\s*"([a-z-]+)"',
    r'\bWaiting\([^\n]+, "([a-z-]+)"',
    r'\bUnschedulable\([^\n]+, "([a-z-]+)"',
    r'\b_everywhere\([^\n]+, "([a-z-]+)"',
)


def codes_in_source() -> set[str]:
    found: set[str] = set()
    for floor in FLOORS:
        for path in (ROOT / "dra_alloc" / floor).rglob("*.py"):
            if path.name == "codes.py" or path.parent.name == "admit":
                continue  # what queue systems say has codes of its own
            text = path.read_text(encoding="utf-8")
            for pattern in PATTERNS:
                for match in re.finditer(pattern, text, re.MULTILINE):
                    found.update(group for group in match.groups() if group)
    return found


def codes_of_no_node() -> set[str]:
    """Return the codes of what is found out before any node is asked; of a node's room it is that node's own."""
    found = {GROUP_CODE}
    for folder in ("cluster/attempts", "scenario", "pods"):
        for path in (ROOT / "dra_alloc" / folder).glob("**/*.py"):
            text = path.read_text(encoding="utf-8")
            for pattern in OF_NO_NODE if path.parent.name != "filters" else ():
                found.update(re.findall(pattern, text))
    return found - {"node-resources"}


@pytest.mark.parametrize("code", sorted(codes_of_no_node()))
def test_what_no_node_has_a_say_in_is_told_without_nodes(code: str) -> None:
    assert first_cause([NodeRefusal("n", code, "the text")]) == "the text"


def test_what_a_node_has_a_say_in_is_told_with_it() -> None:
    assert {"quota", "claim-missing", "pod-group", "in-order", "node-name", "unknown-class"} < codes_of_no_node()
    assert first_cause([NodeRefusal("n", "node-resources", "the text")]) == "on n: the text"


def test_every_documented_code_is_used_and_every_code_documented() -> None:
    documented = {*DEVICE_CODES, *STRANDED_CODES, *NODE_CODES, *FACT_CODES}
    used = codes_in_source()
    assert documented - used == set()
    engines = {"first-fit", "cp-sat"}
    assert {code for code in used - documented - engines if "-" in code} == set()


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference" / "reasons.md").read_text(encoding="utf-8") == render_page()
