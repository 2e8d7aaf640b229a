"""The quick parser makes the tree that the careful one makes, or none."""

from __future__ import annotations

from random import Random

import pytest

from dra_alloc.cel.environments import declarations, settings
from dra_alloc.cel.syntax.lexer import scan, tokenize
from dra_alloc.cel.syntax.parser import parse_carefully
from dra_alloc.cel.syntax.short_parser import read_short
from dra_alloc.cel.syntax.source import SourceText
from fuzz.cel.devices import random_device
from fuzz.cel.expressions import Writer

_DECLARED = declarations(settings("1.37", "stored", list_attributes=True, consumable_capacity=True))


def _both(text: str) -> tuple[str, str]:
    """Print both trees, as texts: as values 1, 1.0 and true are equal."""
    tokens = scan(text)
    root = None if tokens is None else read_short(tokens, _DECLARED.macros)
    careful = parse_carefully(SourceText(text), _DECLARED.macros, quoted_names=True).root
    return repr(root), repr(careful)


def test_random_selectors_have_the_same_tree() -> None:
    short = 0
    for number in range(600):
        random = Random(number)
        quick, careful = _both(Writer(random, random_device(random, lists=True)).selector())
        if quick != "None":
            assert quick == careful
            short += 1
    assert short > 400


@pytest.mark.parametrize(
    "text",
    [
        "a || b && c || d && !!e == !f && -1 < -a",
        "a ? b : c ? d || e : f",
        "1 - 2 - 3 * 4 % 5 + 6 in [7, 8.5, 9u, b'x', \"y\", null][0].z.?q[?r]",
        'has(a.b) && c.exists(x, x.matches("y")) && cel.bind(v, w, v)',
        ".5 + a /* no comment */",
        "(((a)))[(b)]",
        "f(g(h()), i.j(k, l))",
    ],
)
def test_each_kind_of_node_is_the_same(text: str) -> None:
    quick, careful = _both(text)
    assert quick in (careful, "None")


@pytest.mark.parametrize(
    "text",
    [
        "a b",
        "a.",
        "f(a,)",
        "[a,]",
        "a.`b`",
        "for",
        "{a: b}",
        "m{f: 1}",
        "has(a)",
        "99999999999999999999",
        "((((((((((((((((((a))))))))))))))))))",
        "&".join("a&" for _ in range(120)) + "a",
        "",
    ],
)
def test_what_is_not_short_and_plain_is_left_to_the_other(text: str) -> None:
    assert _both(text)[0] == "None"


def test_tokens_are_the_same_in_both_forms() -> None:
    pieces = [*"abrRBbuU01.9eExX\"'\\\n\t /&|=!<>`-+?:%,()[]{}_é", '"""', "'''", "\\u00e9", "//", "0x", "in", "rb"]
    for number in range(3000):
        random = Random(number)
        text = "".join(random.choice(pieces) for _ in range(random.randint(0, 14)))
        tokens, issues = tokenize(SourceText(text))
        found = scan(text)
        assert (found is None) == bool(issues), text
        if found is not None:
            assert found.kinds == [each.kind for each in tokens], text
            assert found.starts == [each.start for each in tokens], text
