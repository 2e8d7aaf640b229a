"""
Well-typed selectors and devices as Hypothesis strategies, of the part of the language that cel-expr-python gets right.

A form is a text with places in braces for expressions of a type. Left out are
quantities, versions and ``includes`` (that engine cannot evaluate a type of
ours), unknown domains (its map has no default), order between kinds of numbers,
sets, lists and two-variable macros (it has none), conversions of constants
(which upstream carries out when it compiles), error texts of evaluation, and of
the checker's those about methods and ``&&``, which cel-cpp words differently.
"""

from __future__ import annotations

import re
from typing import Any, Final

from hypothesis import strategies as st

_PLACE: Final = re.compile(r"\{(\w+)\}")
_A: Final = 'device.attributes["d"]'
#: Names of attributes by type; devices may lack the second of each.
NAMES: Final = {"bool": ("b0", "b1"), "int": ("i0", "i1"), "string": ("s0", "s1"), "sv": ("v0", "v1")}
_WORDS: Final = ("", "a", "ab", "abc", "H100", "7")
_VERSIONS: Final = ("1.2.3", "1.2.3-rc.1", "0.0.0", "2.0.0", "1.10.0")
_AMOUNTS: Final = ("0", "1", "500m", "1Gi", "1024Mi", "40Gi", "-3")

_COMPARED: Final = ("<", "<=", ">", ">=", "==", "!=")
_FORMS: Final[dict[str, tuple[str, ...]]] = {
    "bool": (
        "true",
        "false",
        *(f"{{int}} {sign} {{int}}" for sign in _COMPARED),
        *(f"{{string}} {sign} {{string}}" for sign in _COMPARED),
        "({bool} && {bool})",
        "({bool} || {bool})",
        "({bool} && {bool} && {bool})",
        "!({bool})",
        "({bool} ? {bool} : {bool})",
        "{string}.startsWith({string})",
        "{string}.endsWith({string})",
        "{string}.contains({string})",
        "{string}.matches('^[a-b]+$')",
        "{int} in [{INT}, {INT}, 3]",
        "{string} in [{STRING}, 'abc']",
        "'s0' in " + _A,
        "'i1' in " + _A,
        "'nowhere' in device.attributes",
        "device.allowMultipleAllocations",
        *(f"has({_A}.{name})" for names in NAMES.values() for name in names),
        f"{_A}.b0",
        f"{_A}.b1",
        "[{INT}, {INT}, 3].exists(x, x > {int})",
        "[{INT}, {INT}, 3].all(x, x != {int})",
        "['a', {STRING}].exists(x, x == {string})",
        "[{INT}, 2].map(x, x + 1) == [{INT}, 3]",
        "[{INT}, 2].filter(x, x > 1) == [2]",
        f"{_A}.?b1.orValue({{bool}})",
        "cel.bind(v, {int}, v < {int})",
        "cel.bind(v, {string}, v == {string})",
        "dyn({int}) == dyn({double})",
        "{double} < {double}",
        "dyn({int}) == dyn({string})",
        "type({int}) == int",
    ),
    "int": (
        "0",
        "1",
        "7",
        "-2",
        "9223372036854775807",
        f"{_A}.i0",
        f"{_A}.i1",
        "({int} + {int})",
        "({int} - {int})",
        "({int} * {int})",
        "({int} / {int})",
        "({int} % {int})",
        "size({string})",
        "[{INT}, 5][0]",
        f"{_A}.?i1.orValue({{int}})",
        f"int({_A}.s0)",
        "{string}.indexOf({string})",
    ),
    "string": (
        *(repr(word) for word in _WORDS),
        "device.driver",
        f"{_A}.s0",
        f"{_A}.s1",
        "({string} + {string})",
        "({bool} ? {string} : {string})",
        f"{_A}.?s1.orValue({{string}})",
        "{string}.lowerAscii()",
        "{string}.replace({string}, 'x')",
        "{string}.substring(1)",
        "string({int})",
    ),
    # What a list literal may hold beside a literal: attributes are dyn.
    "INT": ("0", "1", "2", "-2", "size('ab')"),
    "STRING": tuple(repr(word) for word in _WORDS),
    "double": ("0.5", "-1.5", "2.0", "double({int})", "({double} * {double})"),
}
_DEPTH: Final = 3


@st.composite
def selectors(draw: st.DrawFn) -> str:
    """Selectors that are well typed."""
    return _expression(draw, "bool", _DEPTH)


def _expression(draw: st.DrawFn, kind: str, depth: int) -> str:
    forms = _FORMS[kind]
    text = draw(st.sampled_from(forms if depth > 0 else [form for form in forms if "{" not in form]))
    return _PLACE.sub(lambda place: _expression(draw, place[1], depth - 1), text)


@st.composite
def ill_typed(draw: st.DrawFn) -> str:
    """Selectors that no overload fits; both checkers have to say so in the same words."""
    sign = draw(st.sampled_from(("<", "+", "-", "*", "==", "!=", "in")))
    kinds = st.sampled_from(("bool", "int", "string"))
    left, right = (_expression(draw, draw(kinds), 1) for _ in range(2))
    return f"({left}) {sign} ({right})"


@st.composite
def devices(draw: st.DrawFn) -> dict[str, Any]:
    """Devices that have the first name of each type and perhaps the second, as the harness protocol has them."""
    values = {
        "bool": st.booleans(),
        "int": st.one_of(st.integers(-3, 9), st.just(2**63 - 1)),
        "string": st.sampled_from(_WORDS),
        "sv": st.sampled_from(_VERSIONS),
    }
    member = {"bool": "bool", "int": "int", "string": "string", "sv": "version"}
    attributes: dict[str, Any] = {"l0": {"ints": draw(st.lists(st.integers(-2, 7), min_size=1, max_size=3))}}
    for kind, names in NAMES.items():
        for name in names[: draw(st.integers(1, 2))]:
            attributes[name] = {member[kind]: draw(values[kind])}
    capacity = {name: draw(st.sampled_from(_AMOUNTS)) for name in ("c0", "c1")[: draw(st.integers(1, 2))]}
    return {"driver": "d", "attributes": attributes, "capacity": capacity, "multi": draw(st.booleans())}
