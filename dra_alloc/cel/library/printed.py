"""
Values as Go's ``%v`` prints them inside upstream's error texts.
"""

from __future__ import annotations

from typing import Any

from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.library.budget import BoundedText
from dra_alloc.cel.trampoline import Steps, run
from dra_alloc.cel.values.go_numbers import format_double
from dra_alloc.cel.values.runtime import CelMap, Optional, UInt, is_list, type_name


def printed(value: Any) -> str:
    """The text of `value`; map entries come in our order, upstream's changes from run to run."""
    out = BoundedText()
    run(_print(value, out))
    return out.text()


def _print(value: Any, out: BoundedText) -> Steps[None]:
    if is_list(value):
        out.add("[")
        for index, each in enumerate(value):
            out.add(", " if index else "")
            yield _print(each, out)
        out.add("]")
    elif isinstance(value, CelMap):
        out.add("{")
        for index, (key, each) in enumerate(value.items()):
            out.add(", " if index else "")
            yield _print(key, out)
            out.add(": ")
            yield _print(each, out)
        out.add("}")
    elif isinstance(value, Optional) and value.present:
        out.add("optional(")
        yield _print(value.value, out)
        out.add(")")
    else:
        out.add(_scalar(value))


def _scalar(value: Any) -> str:
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return format_double(value)
    if kind is UInt:
        return str(int(value))
    if kind is bytes:
        return f"[{' '.join(map(str, value))}]"
    if value is None:
        return "0"
    if isinstance(value, Optional):
        return "optional.none()"
    return str(value) if kind in (str, int, CelType) or hasattr(value, "go_type") else type_name(value)
