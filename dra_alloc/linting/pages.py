"""
The page of each code: why it is, and examples of wrong and right that tests hold it to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from dra_alloc.linting.codes import RULES, rule_named
from dra_alloc.linting.rules import FAMILIES, LintRule

_TEXTS: Final = files("dra_alloc.linting") / "pages"
_SECTION: Final = re.compile(r"^## ([A-Z]\d+)\n", re.MULTILINE)
_EXAMPLE: Final = re.compile(r"```(?:yaml|sh) (\w+)\n(.*?)```\n?", re.DOTALL)
_FIXED: Final = {
    "safe": "safe: `--fix`",
    "unsafe": "changes what is meant: `--fix --unsafe-fixes`",
    "none": "by hand",
}


@dataclass(frozen=True, slots=True)
class RulePage:
    """
    What is to be known of a code: text in Markdown, YAML that is wrong and right, the cluster these go to, what
    was there before, and the options of the command that they are for.
    """

    rule: LintRule
    text: str
    bad: str
    good: str
    cluster: str
    previous: str
    options: str

    def __str__(self) -> str:
        default = "" if self.rule.by_default else ", off by default"
        before = f"Before:\n\n{_set_in(self.previous)}\n" if self.previous else ""
        given = f"With {self.options.strip()}\n\n" if self.options else ""
        head = f"{self.rule.code} ({self.rule.severity}{default}): {self.rule.reason}\n\n{self.text}\n"
        fix, wrong, right = _FIXED[self.rule.fix], _set_in(self.bad), _set_in(self.good)
        return f"{head}\nFix: {fix}\n\n{given}{before}Wrong:\n\n{wrong}\nRight:\n\n{right}"


def _set_in(text: str) -> str:
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())


def page_of(code: str) -> RulePage | None:
    """Return the page of a code, or None if there is no such code."""
    rule = rule_named(code)
    return _page(rule) if rule is not None else None


@cache
def _text(family: str) -> str:
    return (_TEXTS / f"{FAMILIES[family].page}.md").read_text(encoding="utf-8")


@cache
def _sections(family: str) -> dict[str, str]:
    """Return the texts of a family's page by code; what stands before the first is that of no code."""
    parts = _SECTION.split(_text(family))
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _page(rule: LintRule) -> RulePage:
    family = rule.code[:2]
    section = _sections(family)[rule.code]
    examples = dict(_EXAMPLE.findall(section))
    shared = dict(_EXAMPLE.findall(_sections("E2")[""]))
    cluster = shared["cluster"] if FAMILIES[family].needs_cluster else ""
    return RulePage(
        rule,
        _EXAMPLE.sub("", section).strip(),
        examples["bad"],
        examples["good"],
        cluster,
        examples.get("previous", ""),
        examples.get("options", ""),
    )


def whole_page() -> str:
    """Return the page of documentation that has all codes."""
    return "\n".join(_parts())


def _parts() -> Iterator[str]:
    yield "# Codes of lint\n"
    yield "What `dra-alloc lint` looks for; `dra-alloc rule CODE` prints one. A test holds every code to its examples."
    yield "\n| code | severity | what | fix |\n| --- | --- | --- | --- |"
    for rule in RULES:
        off = "" if rule.by_default else " (off by default)"
        yield f"| [{rule.code}](#{rule.code.lower()}) | {rule.severity}{off} | {rule.reason} | {_FIXED[rule.fix]} |"
    for family, (name, _, _) in FAMILIES.items():
        yield f"\n## {name[0].upper()}{name[1:]}\n\n{_examples_told(_sections(family)[''])}"
        for rule in RULES:
            if rule.code.startswith(family):
                yield f"\n### {rule.code}\n\n*{rule.reason}*\n\n{_examples_told(_sections(family)[rule.code])}"
    yield ""


def _examples_told(text: str) -> str:
    return _OPENS.sub(lambda found: f"{_TOLD[found[2]]}```{found[1]}\n", text).strip()


_OPENS: Final = re.compile(r"```(yaml|sh) (bad|good|cluster|previous|options)\n")
_TOLD: Final = {
    "bad": "Wrong:\n\n",
    "good": "Right:\n\n",
    "cluster": "",
    "previous": "Before:\n\n",
    "options": "With:\n\n",
}
