"""
From the overloads the checker matched to the Python function that answers the call.

One match calls that overload's implementation behind a check of the run-time
types; several are told apart at run time, over all overloads of the name.

Spec: CEL-12
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dra_alloc.cel.check.declarations import Function, Overload
from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.values.runtime import CelMap, UInt, is_list, no_such_overload, type_name

_SCALARS: Final[dict[str, type]] = {
    "bool": bool,
    "bytes": bytes,
    "double": float,
    "int": int,
    "null": type(None),
    "string": str,
    "uint": UInt,
}
Test = Callable[[Any], bool]


def prepared(function: Function, constants: Mapping[int, Any]) -> Callable[..., Any] | None:
    """What a function makes of the operands that are constant, by position, if it cares."""
    return function.prepare(constants) if function.prepare is not None and constants else None


def implementation(function: Function, overloads: Sequence[str]) -> Callable[..., Any]:
    """The function to call with the evaluated operands."""
    if function.run is not None:
        return function.run
    if len(overloads) == 1:
        chosen = next(each for each in function.overloads if each.id == overloads[0])
        return _guarded(function, chosen)
    return _dispatcher(function)


def _guarded(function: Function, overload: Overload) -> Callable[..., Any]:
    # Static types prove nothing: that of ``dyn([1]).distinct()[0]`` is whatever the next call wants.
    run = overload.run
    assert run is not None, overload.id
    if not function.guarded:
        return run
    tests = [(index, test) for index, wanted in enumerate(overload.params) if (test := _test(wanted)) is not None]
    if not tests:
        return run
    name = function.name
    if len(tests) == 1 and tests[0][0] == 0:
        first = tests[0][1]

        def guarded_first(*args: Any) -> Any:
            if not first(args[0]):
                raise no_such_overload(name, *args)
            return run(*args)

        return guarded_first

    if len(tests) == len(overload.params) == 2:
        left, right = tests[0][1], tests[1][1]

        def guarded_two(first: Any, second: Any) -> Any:
            if left(first) and right(second):
                return run(first, second)
            raise no_such_overload(name, first, second)

        return guarded_two

    def guarded(*args: Any) -> Any:
        for index, test in tests:
            if not test(args[index]):
                raise no_such_overload(name, *args)
        return run(*args)

    return guarded


def _dispatcher(function: Function) -> Callable[..., Any]:
    """Try the overloads in order of declaration, members and globals alike."""
    by_count: dict[int, list[tuple[tuple[tuple[int, Test], ...], Callable[..., Any]]]] = {}
    for overload in function.overloads:
        if overload.run is not None:
            tests = [(index, test) for index, wanted in enumerate(overload.params) if (test := _test(wanted))]
            by_count.setdefault(len(overload.params), []).append((tuple(tests), overload.run))
    name = function.name

    def dispatch(*args: Any) -> Any:
        for tests, run in by_count.get(len(args), ()):
            for index, test in tests:
                if not test(args[index]):
                    break
            else:
                return run(*args)
        raise no_such_overload(name, *args)

    return dispatch


def _test(wanted: CelType) -> Test | None:
    """Whether a value fits a parameter; None if every value does. Containers are judged by their first element."""
    kind = wanted.kind
    if wanted.is_dyn or kind == "param":
        return None
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return lambda value: type(value) is scalar
    if kind == "list":
        return _list_test(_test(wanted.params[0]))
    if kind == "map":
        return _map_test(_test(wanted.params[0]), _test(wanted.params[1]))
    name = wanted.name
    return lambda value: getattr(value, "cel_type", None) is wanted or type_name(value) == name


def _list_test(element: Test | None) -> Test:
    if element is None:
        return is_list

    def test(value: Any) -> bool:
        return is_list(value) and (len(value) == 0 or element(value[0]))

    return test


def _map_test(key: Test | None, value: Test | None) -> Test:
    def test(candidate: Any) -> bool:
        if not isinstance(candidate, CelMap):
            return False
        for first, second in candidate.items():
            return (key is None or key(first)) and (value is None or value(second))
        return True

    return test
