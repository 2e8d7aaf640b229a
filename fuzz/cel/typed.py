"""
Well-typed selectors and devices as Hypothesis strategies, each with the engines that get all of it right.

A form is a text with places in braces for expressions of a type. It names the
engines that implement it as upstream does, which was found by asking them;
an engine is asked about expressions made of its own forms only. Left out are:

* of cel-python: concatenation (what it gives is no string of its own), double
  arithmetic and equality across types (its operators raise), optional syntax,
  ``cel.bind``, three-argument ``map``, conversions, anything of time;
* of cel-expr-python: quantities, versions and ``includes`` (it cannot evaluate a
  type of ours), unknown domains (its map has no default), order between kinds of
  numbers, sets, lists and two-variable macros (it has none), conversions of
  constants (which upstream carries out when it compiles);
* of both: error texts of evaluation; of the checker's those about methods and
  ``&&``, which cel-cpp words differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

__all__ = ["ENGINES", "Typed", "devices", "ill_typed", "selectors"]

PYTHON: Final = "cel-python"
CPP: Final = "cel-expr-python"
ENGINES: Final = (PYTHON, CPP)
_BOTH: Final = frozenset(ENGINES)
_PY: Final = frozenset({PYTHON})
_CPP: Final = frozenset({CPP})
_PLACE: Final = re.compile(r"\{(\w+)\}")
_A: Final = 'device.attributes["d"]'
_C: Final = 'device.capacity["d"]'
#: Names of attributes by type; devices may lack the second of each.
NAMES: Final = {"bool": ("b0", "b1"), "int": ("i0", "i1"), "string": ("s0", "s1"), "sv": ("v0", "v1")}
_WORDS: Final = ("", "a", "ab", "abc", "H100", "7")
_VERSIONS: Final = ("1.2.3", "1.2.3-rc.1", "0.0.0", "2.0.0", "1.10.0")
_AMOUNTS: Final = ("0", "1", "500m", "1Gi", "1024Mi", "40Gi", "-3")

Forms = tuple[tuple[str, frozenset[str]], ...]
_COMPARED: Final = ("<", "<=", ">", ">=", "==", "!=")
_FORMS: Final[dict[str, Forms]] = {
    "bool": (
        ("true", _BOTH),
        ("false", _BOTH),
        *((f"{{int}} {sign} {{int}}", _BOTH) for sign in _COMPARED),
        *((f"{{string}} {sign} {{string}}", _BOTH) for sign in _COMPARED),
        ("({bool} && {bool})", _BOTH),
        ("({bool} || {bool})", _BOTH),
        ("({bool} && {bool} && {bool})", _BOTH),
        ("!({bool})", _BOTH),
        ("({bool} ? {bool} : {bool})", _BOTH),
        ("{string}.startsWith({string})", _BOTH),
        ("{string}.endsWith({string})", _BOTH),
        ("{string}.contains({string})", _BOTH),
        ("{string}.matches('^[a-b]+$')", _BOTH),
        ("{int} in [{INT}, {INT}, 3]", _BOTH),
        ("{string} in [{STRING}, 'abc']", _BOTH),
        ("'s0' in " + _A, _BOTH),
        ("'i1' in " + _A, _BOTH),
        ("'nowhere' in device.attributes", _BOTH),
        ("device.allowMultipleAllocations", _BOTH),
        *((f"has({_A}.{name})", _BOTH) for names in NAMES.values() for name in names),
        (f"{_A}.b0", _BOTH),
        (f"{_A}.b1", _BOTH),
        ("[{INT}, {INT}, 3].exists(x, x > {int})", _BOTH),
        ("[{INT}, {INT}, 3].all(x, x != {int})", _BOTH),
        ("['a', {STRING}].exists(x, x == {string})", _BOTH),
        ("[{INT}, 2].map(x, x + 1) == [{INT}, 3]", _BOTH),
        ("[{INT}, 2].filter(x, x > 1) == [2]", _BOTH),
        (f"{_A}.?b1.orValue({{bool}})", _CPP),
        ("cel.bind(v, {int}, v < {int})", _CPP),
        ("cel.bind(v, {string}, v == {string})", _CPP),
        ("dyn({int}) == dyn({double})", _CPP),
        ("{double} < {double}", _CPP),
        ("dyn({int}) == dyn({string})", _CPP),
        ("type({int}) == int", _CPP),
        *((f"{{q}}.{name}({{q}})", _PY) for name in ("isGreaterThan", "isLessThan")),
        *((f"{{sv}}.{name}({{sv}})", _PY) for name in ("isGreaterThan", "isLessThan")),
        ("{q} == {q}", _PY),
        ("{q} != {q}", _PY),
        ("{sv} == {sv}", _PY),
        ("{sv} != {sv}", _PY),
        ("{q}.isInteger()", _PY),
        ("isQuantity({string})", _PY),
        ("isSemver({string})", _PY),
        (f"{_A}.l0.includes({{int}})", _PY),
        (f"{_A}.s0.includes({{string}})", _PY),
    ),
    "int": (
        ("0", _BOTH),
        ("1", _BOTH),
        ("7", _BOTH),
        ("-2", _BOTH),
        ("9223372036854775807", _BOTH),
        (f"{_A}.i0", _BOTH),
        (f"{_A}.i1", _BOTH),
        ("({int} + {int})", _BOTH),
        ("({int} - {int})", _BOTH),
        ("({int} * {int})", _BOTH),
        ("({int} / {int})", _BOTH),
        ("({int} % {int})", _BOTH),
        ("size({string})", _BOTH),
        ("[{INT}, 5][0]", _BOTH),
        (f"{_A}.?i1.orValue({{int}})", _CPP),
        (f"int({_A}.s0)", _CPP),
        ("{string}.indexOf({string})", _CPP),
        ("{q}.compareTo({q})", _PY),
        ("{sv}.compareTo({sv})", _PY),
        ("{sv}.major()", _PY),
        ("sign({q})", _PY),
        ("{q}.asInteger()", _PY),
    ),
    "string": (
        *((repr(word), _BOTH) for word in _WORDS),
        ("device.driver", _BOTH),
        (f"{_A}.s0", _BOTH),
        (f"{_A}.s1", _BOTH),
        ("({string} + {string})", _CPP),
        ("({bool} ? {string} : {string})", _BOTH),
        (f"{_A}.?s1.orValue({{string}})", _CPP),
        ("{string}.lowerAscii()", _CPP),
        ("{string}.replace({string}, 'x')", _CPP),
        ("{string}.substring(1)", _CPP),
        ("string({int})", _CPP),
    ),
    # What a list literal may hold beside a literal: attributes are dyn.
    "INT": tuple((number, _BOTH) for number in ("0", "1", "2", "-2", "size('ab')")),
    "STRING": tuple((repr(word), _BOTH) for word in _WORDS),
    "double": (("0.5", _CPP), ("-1.5", _CPP), ("2.0", _CPP), ("double({int})", _CPP), ("({double} * {double})", _CPP)),
    "q": (
        *((f"quantity('{amount}')", _PY) for amount in _AMOUNTS),
        (f"{_C}.c0", _PY),
        (f"{_C}.c1", _PY),
        ("{q}.add({q})", _PY),
        ("{q}.sub({int})", _PY),
    ),
    "sv": (
        *((f"semver('{version}')", _PY) for version in _VERSIONS),
        (f"{_A}.v0", _PY),
        (f"{_A}.v1", _PY),
    ),
}
_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Typed:
    """A selector and the engines that know all of it."""

    text: str
    engines: frozenset[str]


@st.composite
def selectors(draw: st.DrawFn, engine: str) -> Typed:
    """Selectors of one engine's part of the language, and of the other's by chance."""
    return _expression(draw, "bool", engine, _DEPTH)


def _expression(draw: st.DrawFn, kind: str, engine: str, depth: int) -> Typed:
    forms = [form for form in _FORMS[kind] if engine in form[1]]
    leaves = [form for form in forms if "{" not in form[0]]
    text, engines = draw(st.sampled_from(forms if depth > 0 else leaves))
    parts = [_expression(draw, place, engine, depth - 1) for place in _PLACE.findall(text)]
    texts = iter(parts)
    filled = _PLACE.sub(lambda match: next(texts).text, text)
    return Typed(filled, engines.intersection(*(part.engines for part in parts)))


@st.composite
def ill_typed(draw: st.DrawFn) -> str:
    """Selectors that no overload fits; both checkers have to say so in the same words."""
    sign = draw(st.sampled_from(("<", "+", "-", "*", "==", "!=", "in")))
    kinds = st.sampled_from(("bool", "int", "string"))
    left, right = (_expression(draw, draw(kinds), CPP, 1) for _ in range(2))
    return f"({left.text}) {sign} ({right.text})"


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
