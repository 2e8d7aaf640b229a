"""
cel-expr-python, the Python face of cel-cpp, asked about devices; it has no quantities and no versions.

The device is a handful of variables with dots in their names, so that selectors stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from dra_alloc import cel

Data = dict[str, Any]


class CelExprUnavailable(Exception):
    """The package is not installed, or not for this machine."""


class CelExprError(Exception):
    """What it says of a selector that it does not compile or that fails."""


@cache
def _environment() -> Any:
    try:
        from cel_expr_python import cel as package  # noqa: PLC0415 - optional
        from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings  # noqa: PLC0415
    except ImportError as error:
        raise CelExprUnavailable(f"needs cel-expr-python: {error}") from None
    kind = package.Type
    names = kind.Map(kind.STRING, kind.Map(kind.STRING, kind.DYN))
    return package.NewEnv(
        variables={
            "device.driver": kind.STRING,
            "device.allowMultipleAllocations": kind.BOOL,
            "device.attributes": names,
        },
        extensions=[ext_bindings.ExtBindings(), ext_optional.ExtOptional(), ext_strings.ExtStrings()],
    )


def device_data(device: cel.CelDevice) -> Data:
    """The device as values of Python; versions become text, an unknown domain is no empty map."""
    attributes = {
        domain: {name: _plain(value) for name, value in names.items()} for domain, names in device.attributes.items()
    }
    return {
        "device.driver": device.driver,
        "device.allowMultipleAllocations": device.multi,
        "device.attributes": attributes,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, bool | int | str) else str(value)


def compile_selector(expression: str) -> Callable[[Mapping[str, Any]], bool]:
    """
    A function from a device's data to the answer; it raises CelExprError if it has none.

    Raises: CelExprUnavailable; CelExprError.
    """
    environment = _environment()
    try:
        compiled = environment.compile(expression)
    except (RuntimeError, ValueError) as error:
        raise CelExprError(str(error)) from None

    def matches(data: Mapping[str, Any]) -> bool:
        try:
            found = compiled.eval(data=data)
        except (RuntimeError, ValueError) as error:
            raise CelExprError(str(error)) from None
        value = found.value()
        if isinstance(value, bool):
            return value
        raise CelExprError(str(value))

    return matches
