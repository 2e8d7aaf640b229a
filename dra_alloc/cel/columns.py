"""
Many devices, one selector: one evaluation for every distinct projection.

Values are interned, so that a device is a row of small integers per selector.
Errors are kept like answers and only raised when somebody asks for that
device: upstream never looks at the others.

Spec: CEL-71, CEL-72
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from dra_alloc.cel.device import CelDevice, GuardedNames
from dra_alloc.cel.errors import EvaluationError
from dra_alloc.cel.library.quantity import CelQuantity
from dra_alloc.cel.library.semver import CelSemver
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.program import Program
from dra_alloc.cel.reads import Read
from dra_alloc.remembered import Numbers, Remembered

Outcome = bool | EvaluationError
Row = tuple[int, ...]
_ABSENT: Final = ("absent",)
_BROKEN: Final = ("broken",)
#: Tokens that have an integer, and rows of them of which a program's answer is remembered.
_MOST_TOKENS: Final = 1 << 16
_MOST_ANSWERS: Final = 1 << 14


class Interner:
    """
    Small integers for values, and what programs answered for rows of them.

    Share one between the columns of several slices to evaluate a projection
    once for all of them.
    """

    def __init__(self) -> None:
        #: The integer of a token; equal tokens have equal integers, unless one was forgotten in between.
        self.id = Numbers(_MOST_TOKENS).of
        self._lock = Lock()
        self._answers: WeakKeyDictionary[Program, Remembered[Row, Outcome]] = WeakKeyDictionary()

    def answers(self, program: Program) -> Remembered[Row, Outcome]:
        """The rows `program` was asked about, and its answers."""
        found = self._answers.get(program)
        if found is None:
            with self._lock:
                found = self._answers.setdefault(program, Remembered(_MOST_ANSWERS))
        return found


class _Groups(NamedTuple):
    """For each device its group, -1 if it cannot be decoded; for each group its row and a device that has it."""

    members: list[int]
    rows: list[Row]
    firsts: list[int]


class DeviceColumns:
    """Devices side by side; columns are made for what programs read, and kept."""

    def __init__(self, devices: Sequence[CelDevice], interner: Interner | None = None) -> None:
        self.devices = tuple(devices)
        self.interner = interner or Interner()
        self._columns: dict[Read, list[int]] = {}
        self._groups: dict[tuple[Read, ...], _Groups] = {}
        self._problems = {index: each.problem for index, each in enumerate(self.devices) if each.problem}

    def outcomes(self, program: Program) -> list[Outcome]:
        """The answer for every device in order; an EvaluationError stands for itself and is not raised."""
        groups = self._grouped(program.reads)
        answers = self.interner.answers(program)
        by_group: list[Outcome] = []
        new: dict[Row, Outcome] = {}
        for row, first in zip(groups.rows, groups.firsts, strict=True):
            answer = answers.get(row)
            if answer is None:
                answer = new[row] = _answer(program, self.devices[first])
            by_group.append(answer)
        answers.put_all(new)
        if not self._problems:
            return [by_group[group] for group in groups.members]
        return [
            EvaluationError(self._problems[index]) if group < 0 else by_group[group]
            for index, group in enumerate(groups.members)
        ]

    def matches(self, program: Program, index: int) -> bool:
        """
        Whether device number `index` is selected.

        Raises: EvaluationError.
        """
        problem = self._problems.get(index)
        if problem is not None:
            raise EvaluationError(problem)
        groups = self._grouped(program.reads)
        row = groups.rows[groups.members[index]]
        answers = self.interner.answers(program)
        answer = answers.get(row)
        if answer is None:
            answer = answers.put(row, _answer(program, self.devices[index]))
        if isinstance(answer, EvaluationError):
            raise EvaluationError(answer.text, answer.hints)
        return answer

    def column(self, read: Read) -> list[int]:
        """The interned values of what `read` names, device by device."""
        found = self._columns.get(read)
        if found is None:
            intern = self.interner.id
            found = self._columns[read] = [intern(token) for token in _tokens(read, self.devices)]
        return found

    def _grouped(self, reads: tuple[Read, ...]) -> _Groups:
        found = self._groups.get(reads)
        if found is not None:
            return found
        columns = [self.column(read) for read in reads]
        rows = zip(*columns, strict=True) if columns else iter([()] * len(self.devices))
        numbers: dict[Row, int] = {}
        firsts: list[int] = []
        members: list[int] = []
        for index, row in enumerate(rows):
            if index in self._problems:
                members.append(-1)
                continue
            number = numbers.get(row)
            if number is None:
                number = numbers[row] = len(firsts)
                firsts.append(index)
            members.append(number)
        made = self._groups[reads] = _Groups(members, list(numbers), firsts)
        return made


def _answer(program: Program, device: CelDevice) -> Outcome:
    try:
        return program.matches(device)
    except EvaluationError as error:
        return error.with_traceback(None)


def _token(value: Any) -> Any:
    """Something hashable that stands for `value` and everything a selector can tell about it."""
    if isinstance(value, CelSemver):
        return CelSemver, str(value.version)
    if isinstance(value, CelQuantity):
        return CelQuantity, value.quantity.__reduce__()[1]
    if type(value) is Failed:
        return _BROKEN
    if isinstance(value, tuple):
        return tuple, tuple([_token(each) for each in value])
    return type(value), value


def _tokens(read: Read, devices: Sequence[CelDevice]) -> list[Any]:
    kind, domain, name = read
    if kind == "driver":
        return [device.driver for device in devices]
    if kind == "multi":
        return [(bool, device.multi) for device in devices]
    if kind == "device":
        return [_whole(device) for device in devices]
    maps = [device.attributes if kind.startswith("attribute") else device.capacity for device in devices]
    if kind.endswith("domain"):
        return [(bool, domain in each) for each in maps]
    tokens = []
    for each in maps:
        names = each.get(domain)
        if names is not None and name in names:
            tokens.append(_token(names[name]))
        else:
            tokens.append(_BROKEN if isinstance(names, GuardedNames) and names.is_broken(name) else _ABSENT)
    return tokens


def _whole(device: CelDevice) -> Any:
    return (device.driver, device.multi, _content(device.attributes), _content(device.capacity))


def _content(domains: dict[str, dict[str, Any]]) -> Any:
    return tuple(
        [
            (
                domain,
                tuple([(name, _token(value)) for name, value in names.items()]),
            )
            for domain, names in domains.items()
        ]
    )
