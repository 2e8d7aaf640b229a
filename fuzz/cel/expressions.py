"""
Random selectors, typed as the language types them: every library, literals at its edges, and now and then a mistake.

A rule is a text such as ``{string}.indexOf({string}, {int})``: places in braces are filled with expressions of that
type. ``{list_int}.all($v, {bool $v int})`` binds a variable of type int for the place that mentions it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from fuzz.cel.grammar import LEAVES, RULES

_PLACE: Final = re.compile(r"\{(\w+)((?: \$\w \w+)*)\}")
_VARIABLE: Final = re.compile(r"\$(\w)")
_WORDS: Final = (
    "",
    "a",
    "abc",
    "a,b,c",
    "ñé",
    "aXbXc",
    " x ",
    "gpu",
    "H100 80GB",
    "1.2.3",
    "1Gi",
    "10.0.0.1",
    "10.0.0.0/8",
    "::1",
    "1h30m",
    "2024-02-29T03:04:05Z",
    "http://h:80/p?a=1",
    "%d",
    "%s-%s",
    "%.2f",
    "[a-z]+",
    "(a|b)*",
    "x{2",
    "\\d",
    "\n\"'\\",
    "😀",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "UTC",
    "Europe/Berlin",
    "-05:30",
    "uuid",
    "memory",
    "gpu.example.com",
)
_MISTAKE: Final = 0.02
_UNTYPED: Final = 0.07
#: Rules are given up for leaves below this depth.
_DEPTH: Final = 4


class Writer:
    """Writes expressions for one device document; the same seed writes the same."""

    def __init__(self, random: Random, device: Mapping[str, object]) -> None:
        self._random = random
        self._device = device
        self._scope: list[tuple[str, str]] = []
        self._names = 0

    def selector(self) -> str:
        """An expression that should be a bool."""
        return self.expression("bool" if self._random.random() > _MISTAKE else "dyn", self._random.randint(1, _DEPTH))

    def expression(self, kind: str, depth: int) -> str:
        """An expression of a type, mostly."""
        roll = self._random.random()
        if roll < _MISTAKE:
            kind = self._random.choice(sorted(RULES))
        elif roll < _MISTAKE + _UNTYPED and kind != "bool":
            return f"dyn({self.expression(kind, depth - 1)})"
        known = [name for name, bound in self._scope if bound == kind]
        if known and self._random.random() < 0.5:
            return self._random.choice(known)
        rules: Sequence[str] = RULES[kind] if depth > 0 else LEAVES.get(kind, ())
        return self._filled(self._random.choice(rules or RULES[kind]), depth)

    def _filled(self, rule: str, depth: int) -> str:
        names: dict[str, str] = {}
        for letter in dict.fromkeys(_VARIABLE.findall(rule)):
            self._names += 1
            names[letter] = f"{letter}{self._names}"

        def place(match: re.Match[str]) -> str:
            kind, bound = match[1], match[2].split()
            pairs = list(zip(bound[::2], bound[1::2], strict=True))
            self._scope += [(names[name[1:]], each) for name, each in pairs]
            made = self._leaf(kind) or self.expression(kind, depth - 1)
            del self._scope[len(self._scope) - len(pairs) :]
            return made

        text = _PLACE.sub(place, rule)
        return _VARIABLE.sub(lambda match: names[match[1]], text)

    def _leaf(self, kind: str) -> str:
        """A literal of a kind that no expression has, empty for every other."""
        random = self._random
        match kind:
            case "TEXT":
                return json.dumps(self._text(), ensure_ascii=False)
            case "INT":
                edges = (0, 1, 2, -1, 10, 2**63 - 1, -(2**63))
                return str(random.choice(edges) if random.random() < 0.3 else random.randint(-3, 9))
            case "SMALL":
                return str(random.randint(-1, 6))
            case "DOUBLE":
                return random.choice(("0.0", "1.5", "-2.5", "1e20", "1e-7", "3.0", "123456.789", "-0.0"))
            case "DOMAIN":
                return json.dumps(random.choice(self._domains()))
            case "NAME":
                return random.choice(self._names_of("attributes"))
            case "AMOUNT":
                return random.choice(self._names_of("capacity"))
            case _:
                return ""

    def _text(self) -> str:
        random = self._random
        if random.random() < 0.7:
            return random.choice(_WORDS)
        return "".join(random.choice("abcX.,/-_:%01 ñ") for _ in range(random.randint(0, 9)))

    def _domains(self) -> list[str]:
        names = [*self._keys("attributes"), *self._keys("capacity")]
        return [str(self._device["driver"]), "nowhere", *(name.partition("/")[0] for name in names if "/" in name)]

    def _names_of(self, member: str) -> list[str]:
        return ["missing", *(name.rpartition("/")[2] for name in self._keys(member))]

    def _keys(self, member: str) -> list[str]:
        found = self._device[member]
        assert isinstance(found, Mapping)
        return sorted(found)
