"""
Options that stand in a file beside the manifests: dra-alloc.toml, or [tool.dra-alloc] of pyproject.toml.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from pathlib import Path

    from dra_alloc.errors import InputError

__all__ = ["settle"]

_OWN: Final = "dra-alloc.toml"
_SHARED: Final = "pyproject.toml"
_TABLE: Final = "tool.dra-alloc"


class _FromFile(list[str]):
    """Values of a file, which those of the command line replace."""

    replaced = False

    def extend(self, values: Iterable[str]) -> None:
        if not self.replaced:
            self.clear()
            self.replaced = True
        super().extend(values)


class _Key(NamedTuple):
    """A key of the file: the option that it sets, what may stand there, and what becomes of that in a folder."""

    option: str
    form: str
    read: Callable[[Any, str], Any]


def _text(value: Any, _folder: str) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any, _folder: str) -> list[str] | None:
    listed = [value] if isinstance(value, str) else value
    fits = isinstance(listed, list) and listed and all(isinstance(each, str) and each for each in listed)
    return _FromFile(listed) if fits else None


def _paths(value: Any, folder: str) -> list[str] | None:
    listed = _texts(value, folder)
    return None if listed is None else _FromFile(os.path.join(folder, each) for each in listed)  # noqa: PTH118 - as it is written


def _gates(value: Any, _folder: str) -> list[tuple[str, bool]] | None:
    fits = isinstance(value, Mapping) and all(isinstance(each, bool) for each in value.values())
    return list(value.items()) if fits else None


_LISTED: Final = "a text or a list of texts"
_KEYS: Final[Mapping[str, _Key]] = {
    "cluster": _Key("cluster", _LISTED, _paths),
    "release": _Key("release", "a text", _text),
    "gates": _Key("gate", "a table of true and false", _gates),
    "namespace": _Key("namespace", "a text", _text),
    "select": _Key("select", _LISTED, _texts),
    "extend-select": _Key("extend_select", _LISTED, _texts),
    "ignore": _Key("ignore", _LISTED, _texts),
}


def settle(command: ArgumentParser) -> None:
    """
    Set the defaults of a command's options from the nearest file: that of the working folder or one around it.

    Options that the command does not have are left out. What is wrong with the file is told when the command runs.
    """
    found = _nearest()
    if found is None:
        return
    from pathlib import Path

    from dra_alloc.errors import InputError

    try:
        defaults = _defaults(Path(found))
    except InputError as error:
        command.set_defaults(settings_problem=error)
        return
    known = {name: value for name, value in defaults.items() if command.get_default(name) is not None}
    if known:
        command.set_defaults(**known, settings_file=found)


def _nearest() -> str | None:
    try:
        folder = os.getcwd()  # noqa: PTH109 - --help loads no pathlib for it
    except OSError:
        return None
    while True:
        for name in (_OWN, _SHARED):
            path = os.path.join(folder, name)  # noqa: PTH118 - as above
            if name == _OWN and os.path.exists(path):  # noqa: PTH110 - as above
                return path
            if name == _SHARED and _mentions(path):
                return path
        folder, before = os.path.dirname(folder), folder  # noqa: PTH120 - as above
        if folder == before:
            return None


def _mentions(path: str) -> bool:
    """Return whether the file has a table of ours; of one that is no TOML, whether it looks like that."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            data = file.read()
    except OSError:
        return False
    if b"dra-alloc" not in data:
        return False
    import tomllib

    try:
        tools = tomllib.loads(data.decode()).get("tool")
    except (ValueError, RecursionError):
        return re.search(rb"^\s*\[tool\.dra-alloc\b", data, re.MULTILINE) is not None
    return isinstance(tools, Mapping) and "dra-alloc" in tools


def _defaults(path: Path) -> dict[str, Any]:
    """Return the values of options. Raises: InputError."""
    import tomllib

    from dra_alloc.errors import InputError, Where

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=Where(file=str(path))) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", where=Where(file=str(path))) from None
    try:
        told = tomllib.loads(text)
    except RecursionError:
        raise InputError("is no TOML that can be read: it is nested too deeply", where=Where(file=str(path))) from None
    except ValueError as error:  # whole numbers of thousands of digits are no TOMLDecodeError
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.rstrip().count("\n") + 1
        raise InputError(f"is no TOML: {error}", where=Where(file=str(path), line=line)) from None
    table = told if path.name == _OWN else told["tool"]["dra-alloc"]
    if not isinstance(table, Mapping):
        raise _refused(f"{_TABLE} has to be a table", "dra-alloc", path, text)
    options: dict[str, Any] = {}
    for name, value in table.items():
        key = _KEYS.get(name)
        if key is None:
            raise _refused(f"unknown key {name!r}", name, path, text)
        read = key.read(value, str(path.parent))
        if read is None:
            raise _refused(f"{name} has to be {key.form}", name, path, text)
        options[key.option] = read
    return options


def _refused(said: str, name: str, path: Path, text: str) -> InputError:
    """Return what is said of a key, with the line that it stands in."""
    from dra_alloc.errors import InputError, Where, did_you_mean, in_brief

    start = 0
    if path.name != _OWN:
        table = re.search(rf"^\s*\[{re.escape(_TABLE)}\b", text, re.MULTILINE)
        start = table.start() if table else 0
    quoted = re.escape(name)
    pattern = rf"""^\s*(?:["']?{quoted}["']?\s*[=.]|\[+[^\]]*\b{quoted}\s*\])"""
    at = re.compile(pattern, re.MULTILINE).search(text, start)
    line = text.count("\n", 0, at.start() + len(at[0]) - len(at[0].lstrip())) + 1 if at else None
    hint = did_you_mean(name, _KEYS) or f"keys: {', '.join(_KEYS)}"
    return InputError(in_brief(said), where=Where(file=str(path), line=line), hint=hint)
