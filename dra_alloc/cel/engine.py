"""
Where programs come from: an environment of a release, with a cache of what it compiled.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.cel.device import Reading
from dra_alloc.cel.environments import Declarations, EnvironmentKey, declarations, settings
from dra_alloc.cel.errors import CompileError
from dra_alloc.cel.hints import compile_hints
from dra_alloc.cel.program import Program
from dra_alloc.errors import InputError
from dra_alloc.releases import Release
from dra_alloc.remembered import Remembered

#: kube-apiserver refuses longer selectors before it compiles them.
MAX_EXPRESSION_BYTES: Final = 10 * 1024
#: Characters of all expressions that are remembered compiled, at some 70 bytes each.
_REMEMBERED: Final = 1 << 19


class Environment:
    """
    What expressions of one release and mode may use; compiles them.

    Programs are remembered by expression text, and shared between threads;
    failures, too.
    """

    def __init__(self, chosen: EnvironmentKey) -> None:
        self.settings = chosen
        self._declared: Declarations = declarations(chosen)
        self._programs: Remembered[str, Program | CompileError] = Remembered(_REMEMBERED)

    @property
    def reading(self) -> Reading:
        """How devices are read; pass it to :func:`prepare_device`."""
        return self.settings.reading

    @property
    def declared(self) -> Declarations:
        """Everything an expression may refer to here."""
        return self._declared

    def compile(self, expression: str) -> Program:
        """
        The program of `expression`.

        Raises: CompileError with upstream's text; InputError for what is no text.
        """
        if not isinstance(expression, str):
            raise InputError(f"expression has to be a text such as 'device.driver == \"d\"', not {expression!r}")
        found = self._programs.get(expression)
        if found is None:
            found = self._programs.put(expression, self._build(expression), 64 + len(expression))
        if isinstance(found, CompileError):
            # A fresh one: an exception that is raised twice, or by two threads, gathers tracebacks.
            raise CompileError(found.text, found.issues, found.hints)
        return found

    def _build(self, expression: str) -> Program | CompileError:
        try:
            return Program(expression, self._declared)
        except CompileError as error:
            return CompileError(error.text, error.issues, (*error.hints, *compile_hints(error.text, expression)))

    def __repr__(self) -> str:
        return f"Environment({self.settings})"


#: There are as many as releases that changed something in selectors, with their modes and gates: a few dozen.
_ENVIRONMENTS: Final[Remembered[EnvironmentKey, Environment]] = Remembered(64)


def environment(
    release: str | Release = "1.36",
    mode: str = "stored",
    list_attributes: bool = False,
    *,
    consumable_capacity: bool = False,
) -> Environment:
    """
    The environment of a release.

    `mode` is ``stored`` (kube-scheduler: everything the binary knows) or
    ``new`` (kube-apiserver: what a user may write today). The gates are
    DRAListTypeAttributes and DRAConsumableCapacity; the latter only matters in
    ``new``.

    Raises: InputError for an unknown release or mode.
    """
    chosen = settings(release, mode, list_attributes=list_attributes, consumable_capacity=consumable_capacity)
    # Two threads may both make one; all get the one that came first, and share its programs.
    return _ENVIRONMENTS.get(chosen) or _ENVIRONMENTS.put(chosen, Environment(chosen))


def compile(expression: str, release: str | Release = "1.36", mode: str = "stored") -> Program:
    """
    The program of `expression` in the environment of a release, gates off.

    Raises: CompileError; InputError for an unknown release or mode.
    """
    return environment(release, mode).compile(expression)
