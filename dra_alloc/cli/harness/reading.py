"""
Requests of the harness read: a line to an object, parts of it to typed objects; what is wrong is told with its place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final, TypeVar

from pydantic import ValidationError

from dra_alloc.api import KubeModel, Quantity
from dra_alloc.errors import InputError, in_brief
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.make.inspection import inspect
from dra_alloc.manifest.make.schema import schema_of
from dra_alloc.manifest.read.json_numbers import JsonFloat
from dra_alloc.manifest.read.paths import MapKey, Path, render

#: What is said of a request that no stack could hold.
TOO_DEEP: Final = "the request is nested too deep"
#: Python reads so many digits under any setting; a longer integer is no number that Kubernetes stores.
_DIGITS: Final = 640
_PROBLEMS: Final = 3
#: A longer line is no request: its objects would take many times as much.
LONGEST_LINE: Final = 1 << 24

_Model = TypeVar("_Model", bound=KubeModel)


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Return the lines as they come; of one that is too long as much as shows that, and nothing of the rest is kept."""
    while line := stream.readline(LONGEST_LINE + 1):
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE + 1) or b"\n"


def read_line(line: str | bytes) -> dict[str, Any]:
    """
    Return the request that a line holds.

    Raises: InputError.
    """
    if len(line) > LONGEST_LINE:
        raise InputError(f"the request is longer than {LONGEST_LINE:,} bytes")
    text = _text(line).rstrip("\r\n")
    try:
        request = json.loads(text, parse_int=_whole, parse_float=_fraction, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise InputError(f"the request is not JSON: {what} at character {error.pos + 1}") from None
    except RecursionError:
        raise InputError(TOO_DEEP) from None
    if not isinstance(request, dict):
        raise InputError("a request is a JSON object")
    _check_depth(request)
    return request


def _text(line: str | bytes) -> str:
    if isinstance(line, str):
        return line
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"the request is not UTF-8 at byte {error.start + 1}") from None


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        digits = len(text.removeprefix("-"))
        raise InputError(f"the request has an integer of {digits:,} digits ({text[:20]}…); {_DIGITS} are the most")
    return int(text)


def _fraction(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"the request has a number that is too large: {in_brief(text, 20)}")
    return number


def _no_constant(name: str) -> None:
    raise InputError(f"the request is not JSON: {name} is no number of JSON")


def _check_depth(request: dict[str, Any]) -> None:
    level: list[Any] = [request]
    for _ in range(DEFAULT_BUDGET.nesting):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise InputError(f"{TOO_DEEP}: more than {DEFAULT_BUDGET.nesting} levels")


def read_models(model: type[_Model], values: Sequence[Any] | None, name: str) -> list[_Model]:
    """
    Return the objects of a list in the request; null is an empty one.

    Raises: InputError.
    """
    return [read_model(model, value, (name, position)) for position, value in enumerate(values or ())]


def read_model(model: type[_Model], value: Any, place: Path) -> _Model:
    """
    Return the object at a place of the request.

    Raises: InputError, with the first few things that are wrong and where.
    """
    if not isinstance(value, dict):
        raise InputError(f"{render(place)}: has to be an object")
    try:
        return model.from_wire(value)
    except ValidationError as error:
        problems = _problems(model, value, place) or [
            f"{render((*place, *_steps(each['loc'])))}: {each['msg'].removeprefix('Value error, ')}"
            for each in error.errors(include_url=False, include_context=False, include_input=False)
        ]
    more = len(problems) - _PROBLEMS
    told = "; ".join(problems[:_PROBLEMS])
    raise InputError(in_brief(f"{told}; and {more:,} more" if more > 0 else told, 2000))


def _problems(model: type[KubeModel], value: dict[str, Any], place: Path) -> list[str]:
    """Return what is wrong with an object in the words of manifests."""
    with_texts = json.loads(json.dumps(value), parse_float=JsonFloat)
    _, findings = inspect(with_texts, schema_of(model), DEFAULT_BUDGET.nesting)
    told = [(render((*place, *each.path)), each) for each in findings]
    return [f"{where}: {'unknown field' if each.unknown_field else each.message}" for where, each in told]


def _steps(location: tuple[str | int, ...]) -> Path:
    return tuple(step for step in location if not str(step).startswith(("function-", "nullable")))


def read_quantity(value: Any, name: str, key: str) -> Quantity:
    """
    Return the quantity of a key of a map in the request.

    Raises: InputError.
    """
    try:
        return Quantity.from_wire(value)
    except ValueError as error:
        raise InputError(f"{render((*name.split('.'), MapKey(key)))}: {error}") from None
