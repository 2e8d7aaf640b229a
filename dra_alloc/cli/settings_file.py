"""
Options that stand in a file beside the manifests: dra-alloc.toml, or [tool.dra-alloc] of pyproject.toml.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

    from dra_alloc.errors import InputError, Problem

_OWN: Final = "dra-alloc.toml"
_SHARED: Final = "pyproject.toml"
_TABLE: Final = "tool.dra-alloc"
_NO_TABLE: Final = "keys stand at the top of dra-alloc.toml: [tool.dra-alloc] is for pyproject.toml"
_UNDONE: Final = "done"


class _FromFile(list[str]):
    """Values of a file, which those of the command line replace."""

    replaced = False

    def extend(self, values: Iterable[str]) -> None:
        if not self.replaced:
            self.clear()
            self.replaced = True
        super().extend(values)


class _Key(NamedTuple):
    """A key of the file: the option that it sets, what may stand there, what becomes of that in a folder, and one."""

    option: str
    form: str
    read: Callable[[Any, str], Any]
    example: str


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
    "cluster": _Key("cluster", _LISTED, _paths, 'cluster = ["dumps/cluster.json"]'),
    "release": _Key("release", "a text", _text, 'release = "1.36"'),
    "gates": _Key("gate", "a table of true and false", _gates, "gates = {DRAAdminAccess = true}"),
    "namespace": _Key("namespace", "a text", _text, 'namespace = "team-a"'),
    "select": _Key("select", _LISTED, _texts, 'select = ["S", "E203"]'),
    "extend-select": _Key("extend_select", _LISTED, _texts, 'extend-select = ["E210"]'),
    "ignore": _Key("ignore", _LISTED, _texts, 'ignore = ["W808"]'),
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
        command.set_defaults(**known, settings_file=found, settings_known=known)


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

    from dra_alloc.errors import InputError, ManifestError, Where, by_place, did_you_mean

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
        raise ManifestError(
            [_wrong(f"{_TABLE} has to be a table", "dra-alloc", path, text, "[tool.dra-alloc]")], _UNDONE
        )
    options: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in table.items():
        key = _KEYS.get(name)
        read = None if key is None else key.read(value, str(path.parent))
        if key is None:
            hint = _NO_TABLE if (path.name, name) == (_OWN, "tool") else did_you_mean(name, _KEYS)
            hint = hint or f"keys: {', '.join(_KEYS)}"
            problems.append(_wrong(f"unknown key {name!r}", name, path, text, hint))
        elif read is None:
            problems.append(_wrong(f"{name} has to be {key.form}", name, path, text, f"as in {key.example}"))
        else:
            options[key.option] = read
    if problems:
        raise ManifestError(by_place(problems), _UNDONE)
    return options


def _wrong(said: str, name: str, path: Path, text: str, hint: str) -> Problem:
    """Return what is said of a key, with the line that it stands in."""
    from dra_alloc.errors import Problem, Where, in_brief

    found = _key_at(name, path.name, text)
    line = text.count("\n", 0, found) + 1 if found is not None else None
    return Problem(in_brief(said), Where(file=str(path), line=line), hint)


def _key_at(name: str, file: str, text: str) -> int | None:
    """Return where a key stands in the text of a file, if it is found."""
    quoted = re.escape(name)
    pattern = rf"""^\s*(?:["']?{quoted}["']?\s*[=.]|\[+(?:[^\]]*\.)?\s*["']?{quoted}["']?\s*[.\]])"""
    at = re.compile(pattern, re.MULTILINE).search(text, _start(file, text))
    return at.start() + len(at[0]) - len(at[0].lstrip()) if at else None


def _start(file: str, text: str) -> int:
    """Return where our table begins in the text of a file."""
    table = re.search(rf"^\s*\[{re.escape(_TABLE)}\b", text, re.MULTILINE) if file != _OWN else None
    return table.start() if table else 0


def _in_use(options: Namespace) -> frozenset[str]:
    """Return the texts of the file that are in use, and that the command line does not have, too."""
    known = options.settings_known
    texts: dict[bool, set[str]] = {True: set(), False: set()}
    for name, value in vars(options).items():
        if name == "gate":
            split = len(known.get(name, ()))
            texts[True].update(gate for gate, _ in value[:split])
            texts[False].update(gate for gate, _ in value[split:])
        else:
            listed = value if isinstance(value, list) else [value]
            texts[value is known.get(name)].update(each for each in listed if isinstance(each, str))
    return frozenset(texts[True] - texts[False])


def with_place(error: InputError, options: Namespace) -> InputError:
    """Return an error that names a value of the options' file, with the line of that; any other as it is."""
    from dra_alloc.errors import InputError, Where

    path = getattr(options, "settings_file", "")
    if error.where.file or not path:
        return error
    texts = _in_use(options)
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as above
            text = file.read()
    except OSError:
        return error
    start = _start(os.path.basename(path), text)  # noqa: PTH119 - as above
    for found in re.finditer(r"'([^'\n]+)'", error.message):
        said = re.compile(rf"""["']{re.escape(found[1])}["']|^\s*{re.escape(found[1])}\s*=""", re.MULTILINE)
        if found[1] in texts and (at := said.search(text, start)):
            line = text.count("\n", 0, at.end()) + 1
            return InputError(error.message, where=Where(file=path, line=line), hint=error.hint)
    return error
