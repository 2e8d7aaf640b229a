"""
Any expression, of any type and with plain variables: what selectors are made of, without the device.

The environment is a release's own with `device` replaced by the variables of the test. Both evaluators run, the
direct and the counting one, and have to agree.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count as numbers
from types import MappingProxyType
from typing import Any, NamedTuple

from dra_alloc.cel.check.checker import check
from dra_alloc.cel.check.checking import Checked
from dra_alloc.cel.check.types import CelType, struct
from dra_alloc.cel.check.validators import validate
from dra_alloc.cel.count.counting import count
from dra_alloc.cel.count.estimate import Estimator
from dra_alloc.cel.environments import Declarations, declarations, settings
from dra_alloc.cel.errors import CelAbort, CelError, Issue
from dra_alloc.cel.library.time_values import Timestamp
from dra_alloc.cel.plan.build import plan
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.syntax.ast import Node, Select
from dra_alloc.cel.syntax.macros import MacroExpansion
from dra_alloc.cel.syntax.parser import parse
from dra_alloc.cel.syntax.source import SourceText, render
from dra_alloc.cel.values.runtime import CelMap, Optional, UInt, is_list

_BINDINGS = struct("test.Bindings")
_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What came of an expression: `refused` at compile time, or `kind`, `max_cost`, `cost` and a value or `error`.
    """

    refused: str = ""
    kind: CelType | None = None
    max_cost: int = 0
    cost: int = 0
    value: Any = None
    error: str = ""

    @property
    def text(self) -> str:
        """Whatever went wrong, empty if nothing did."""
        return self.refused or self.error


def environment(release: str, variables: Mapping[str, CelType]) -> Declarations:
    """The stored environment of a release with these variables instead of `device`."""
    chosen = settings(release, "stored", list_attributes=True, consumable_capacity=True)
    known = declarations(chosen)
    fields = {**known.fields, _BINDINGS.name: dict(variables)}
    return replace(known, variables=MappingProxyType({"@bindings": _BINDINGS}), fields=MappingProxyType(fields))


def answer(
    expression: str,
    release: str = "1.36",
    *,
    variables: Mapping[str, CelType] | None = None,
    bindings: Mapping[str, Any] | None = None,
) -> Answer:
    """What becomes of `expression`; `variables` are its names with their types, `bindings` their values."""
    declared = environment(release, variables or {})
    source = SourceText(expression)
    parsed = parse(source, declared.macros, quoted_names=declared.settings.quoted_names)
    if parsed.root is None:
        return Answer(refused=render(parsed.issues, source))
    checked, issues = _checked(_bound(parsed.root, variables or {}), source, declared)
    if issues:
        return Answer(refused=render(issues, source))
    most = Estimator(checked, declared.functions).most()
    found = Answer(kind=checked.output_type, max_cost=most)
    return _run(checked, declared, CelMap.of((bindings or {}).items()), found)


def value(expression: str, release: str = "1.36") -> Any:
    """The value of `expression`, which has to have one."""
    found = answer(expression, release)
    assert not found.text, found
    return found.value


def _bound(root: Node, variables: Mapping[str, CelType]) -> Node:
    ids = numbers(1_000_000)
    make = MacroExpansion(lambda: next(ids), 0)
    for name in variables:
        root = make.bind(name, Select(next(ids), 0, make.ident("@bindings"), name), root)
    return root


def _checked(root: Node, source: SourceText, declared: Declarations) -> tuple[Checked, list[Issue]]:
    checked, issues = check(root, source, declared)
    return checked, issues or validate(checked, source, declared.functions)


class _Device(NamedTuple):
    value: CelMap


def _run(checked: Checked, declared: Declarations, bindings: CelMap, found: Answer) -> Answer:
    try:
        direct = plan(checked, declared)
    except (CelError, CelAbort) as error:
        return Answer(refused=error.text)
    result, cost = count(checked, plan(checked, declared, loops=False), declared, bindings, _LIMIT)
    frame = direct.frame(_Device(bindings))
    try:
        again: Any = direct.run(frame)
    except CelAbort as error:
        again = Failed(CelError(error.text))
    except CelError as error:
        again = Failed(error)
    if type(result) is Failed:
        # Only counting meets the crashes of upstream's cost functions, and the limit.
        crashed = result.error.text.startswith(("internal error", "operation cancelled"))
        assert crashed or (type(again) is Failed and again.error.text == result.error.text), (again, result.error.text)
        return replace(found, cost=cost, error=result.error.text)
    assert same(again, result), (again, result)
    return replace(found, cost=cost, value=result)


def same(left: Any, right: Any) -> bool:
    """Whether two values are one in kind and content; NaN is itself."""
    if isinstance(left, CelMap) and isinstance(right, CelMap):
        return len(left) == len(right) and all(
            any(same(key, other) and same(each, found) for other, found in right.items()) for key, each in left.items()
        )
    if isinstance(left, (tuple, list, range)) and isinstance(right, (tuple, list, range)):
        return len(left) == len(right) and all(map(same, left, right))
    present = getattr(left, "present", None)
    if present is not None:
        other = getattr(right, "present", None)
        return present is other and (not present or same(left.value, right.value))
    if hasattr(left, "__len__") and not isinstance(left, (str, bytes)):
        return same(tuple(left), tuple(right))
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    return type(left) is type(right) and (bool(left == right) or str(left) == str(right))


def shown(found: Answer) -> str:
    """What came of an expression as one text, kinds told apart: ``? refused``, ``! error`` or the value."""
    if found.refused:
        return f"? {found.refused.partition(' | ')[0].strip()}"
    return f"! {found.error}" if found.error else text_of(found.value)


def text_of(part: Any) -> str:
    """A value as text: ``1u``, ``"a"``, ``b'a'``, ``[1, 2.0]``, ``{"a": null}``, ``some(1)``; map entries sorted."""
    match part:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[part]
        case UInt():
            return f"{int(part)}u"
        case float():
            return repr(part)
        case str():
            return json.dumps(part, ensure_ascii=False)
        case bytes():
            return repr(part)
        case Optional():
            return f"some({text_of(part.value)})" if part.present else "none"
        case CelMap():
            return "{" + ", ".join(sorted(f"{text_of(key)}: {text_of(each)}" for key, each in part.items())) + "}"
        case Timestamp():
            return part.text()
        case _:
            return "[" + ", ".join(map(text_of, part)) + "]" if is_list(part) else str(part)
