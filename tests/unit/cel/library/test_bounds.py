"""
Nothing a library call can be asked for takes long or much memory. Spec: CEL-62
"""

from __future__ import annotations

import time

import pytest

from tests.unit.cel.evaluator import answer

LIMIT = "operation cancelled: actual cost limit exceeded"
SECONDS = 5.0


def _doubled(start: str, times: int, step: str, body: str) -> str:
    """`body` with `@` bound to `start`, doubled `times` times by `step`."""
    text = body.replace("@", f"v{times}")
    for number in range(times, 0, -1):
        text = f"cel.bind(v{number}, {step.replace('@', f'v{number - 1}')}, {text})"
    return f"cel.bind(v0, {start}, {text})"


TEXT_DOUBLED = ('"aaaaaaaaaaaaaaaa"', 15, "@ + @")
LIST_NESTED = ('["", ""]', 40, "[@, @]")
LIST_DOUBLED = ('["", ""]', 40, "@ + @")

BOUNDED = {
    "replace": _doubled(*TEXT_DOUBLED, '@.replace("", @).size() == 1'),
    "join": _doubled(*TEXT_DOUBLED, '@.split("").join(@).size() == 1'),
    "format": _doubled(*LIST_NESTED, '"%s".format([@]) == ""'),
    "format width": '"' + "%.65535e" * 300 + '".format(lists.range(300).map(i, dyn(1.5))) == ""',
    "printed": _doubled(*LIST_NESTED, '[dyn("a"), dyn(@)].join() == ""'),
    "range": "lists.range(9000000000000000000).size() == 0",
    "computed range": "lists.range(1 + 9000000000000000000).size() == 0",
    "flatten": _doubled(*LIST_NESTED, "@.flatten(50).size() == 0"),
    "isSorted": _doubled(*LIST_DOUBLED, "@.isSorted()"),
    "indexOf": _doubled(*LIST_DOUBLED, '@.indexOf("x") == 0'),
    "lastIndexOf": _doubled(*LIST_DOUBLED, '@.lastIndexOf("x") == 0'),
    "max": _doubled(*LIST_DOUBLED, '@.max() == ""'),
    "reverse": _doubled(*LIST_DOUBLED, "@.reverse().size() == 0"),
    "distinct": _doubled(*LIST_DOUBLED, "@.distinct().size() == 0"),
    "sort": _doubled(*LIST_DOUBLED, "@.sort().size() == 0"),
    "sets": _doubled(*LIST_DOUBLED, "sets.contains(@, @)"),
    "slice": _doubled(*LIST_DOUBLED, "@.slice(0, @.size()).size() == 0"),
    "findAll": _doubled(*TEXT_DOUBLED, '@.findAll("a.*b|a").size() == 0'),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_what_upstream_builds_without_bound_stops(name: str) -> None:
    started = time.process_time()
    found = answer(BOUNDED[name])
    assert time.process_time() - started < SECONDS
    assert LIMIT in found.error, found


@pytest.mark.parametrize(
    ("expression", "size"),
    [
        (_doubled(*TEXT_DOUBLED, "@.split('').size()"), 524_288),
        (_doubled(*TEXT_DOUBLED, "@.upperAscii().size()"), 524_288),
        (_doubled(*TEXT_DOUBLED, '@.replace("a", "bb").size()'), 1_048_576),
        (_doubled('"aaaaaaaaaaaaaaaa"', 9, "@ + @", '@.findAll("a").size()'), 8_192),
        ("lists.range(900000).size()", 900_000),
        ('"9".replace("9", "1234567890123456789012").split("").size()', 22),
    ],
)
def test_large_results_within_the_bounds_are_given(expression: str, size: int) -> None:
    started = time.process_time()
    found = answer(expression)
    assert time.process_time() - started < SECONDS
    assert found.value == size, found


@pytest.mark.parametrize(
    "expression",
    [
        'int("' + "9" * 5_000 + '")',
        'duration("' + "9" * 5_000 + 's")',
        'duration("0.' + "9" * 5_000 + 's")',
        'timestamp("2024-01-01T00:00:00.' + "9" * 5_000 + 'Z")',
        'cidr("10.0.0.0/' + "9" * 5_000 + '")',
        'ip("' + "1" * 5_000 + '.0.0.1")',
        'timestamp(0).getHours("' + "9" * 5_000 + ':00")',
        '"%.' + "9" * 5_000 + 'f".format([1.5])',
        'quantity("' + "9" * 5_000 + '")',
        'semver("' + "9" * 5_000 + '.0.0")',
        'url("http://h:' + "9" * 5_000 + '/")',
    ],
)
def test_absurd_numbers_are_answered_at_once(expression: str) -> None:
    started = time.process_time()
    found = answer(expression)
    assert found.text or found.kind is not None
    assert time.process_time() - started < SECONDS
