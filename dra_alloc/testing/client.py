"""
A client of the harness protocol: it starts an implementation's command and asks it.

    with Client("my-allocator harness") as allocator:
        answer = allocator.ask({"op": "quantity", "value": "1.5Gi"})
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import queue
import select
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from dra_alloc.errors import InputError

__all__ = ["Answer", "Client", "Failure", "HarnessError"]

Json: TypeAlias = dict[str, Any]

#: Questions on the way at once.
WINDOW: Final = 64
#: A longer line is no answer.
LONGEST_LINE: Final = 1 << 22
#: As deep as anything that Kubernetes reads nests.
_DEEPEST: Final = 200
#: So often threads look whether it is over.
_PAUSE: Final = 0.05
#: How long a program that has closed its output may take to leave.
_PATIENCE: Final = 2.0
_READ_AHEAD: Final = 4
_CHUNK: Final = 1 << 16
_LONGEST_WORD: Final = 2000
_LAST_WORDS: Final = 20
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Failure:
    """
    Why a question has no answer.

    `kind` is ``timeout``, ``exited``, ``bad-line`` (no JSON object) or
    ``out-of-order`` (the answer names another question).
    """

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


Answer: TypeAlias = Json | Failure


class HarnessError(InputError):
    """The implementation cannot be started, or a single question has no answer; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class Client:
    """
    A running implementation of the harness protocol.

    `command` is split as a shell would, if it is one text. The clock of a
    question runs from the answer before it; after `seconds` the program is
    killed and the next question meets a new one, as after an exit or a broken
    line. What the program writes to standard error is kept for messages.
    Not for several threads at once.

    Raises: HarnessError where the command cannot be split, or not be started.
    """

    def __init__(
        self, command: str | Sequence[str], *, seconds: float = 60.0, environment: Mapping[str, str] | None = None
    ) -> None:
        self.command = _words(command) if isinstance(command, str) else tuple(command)
        self.seconds = seconds
        self._environment = {**os.environ, **(environment or {})}
        self._running: _Program | None = None
        self.starts = 0

    def ask(self, request: Mapping[str, Any]) -> Json:
        """
        Return the answer to one question.

        Raises: HarnessError where there is none.
        """
        (answer,) = self.ask_all([request])
        if isinstance(answer, Failure):
            raise HarnessError(answer)
        return answer

    def ask_all(self, requests: Iterable[Mapping[str, Any]]) -> Iterator[Answer]:
        """Return the answers in the order of the questions, several of which are on the way at any time."""
        waiting: deque[Mapping[str, Any]] = deque()
        try:
            for request in requests:
                self._program().send(request)
                waiting.append(request)
                if len(waiting) >= WINDOW:
                    yield self._next(waiting)
            while waiting:
                yield self._next(waiting)
        finally:
            if waiting:  # answers on the way would be taken for those to later questions
                self.close()

    def close(self) -> None:
        """End the program; it is started again if there is another question."""
        if self._running is not None:
            self._running.end()
            self._running = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _program(self) -> _Program:
        if self._running is None:
            self._running = _Program(self.command, self._environment)
            self.starts += 1
        return self._running

    def _next(self, waiting: deque[Mapping[str, Any]]) -> Answer:
        answer = self._program().receive(self.seconds)
        request = waiting.popleft()
        if (
            not isinstance(answer, Failure)
            and "name" in request
            and answer.get("name", request["name"]) != (request["name"])
        ):
            answer = Failure("out-of-order", f"asked {request['name']!r}, the answer names {answer['name']!r}")
        if isinstance(answer, Failure):
            self.close()
            for later in waiting:
                self._program().send(later)
        return answer


class _Program:
    """One process; threads write to it and drain it, so that neither side can block the other for ever."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        try:
            if not command:
                raise ValueError("the command is empty")
            self._child = subprocess.Popen(  # noqa: S603 - running the caller's command is what this is for
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(environment), start_new_session=True, bufsize=0
            )
        except (OSError, ValueError) as error:
            text = f"cannot start the implementation {shlex.join(command)!r}: {error}"
            raise HarnessError(Failure("exited", text)) from error
        assert self._child.stdin
        assert self._child.stdout
        assert self._child.stderr
        self._streams = (self._child.stdin, self._child.stdout, self._child.stderr)
        self._requests: queue.Queue[bytes] = queue.Queue()
        self._answers: queue.Queue[bytes | None] = queue.Queue(_READ_AHEAD)  # a chatterbox is left to wait
        self._errors: deque[bytes] = deque(maxlen=_LAST_WORDS)
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=each, daemon=True) for each in (self._write, self._read, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    def _write(self) -> None:
        number = self._streams[0].fileno()
        os.set_blocking(number, False)
        while not self._over.is_set():
            try:
                line = memoryview(self._requests.get(timeout=_PAUSE))
            except queue.Empty:
                continue
            while line and not self._over.is_set():
                try:
                    line = line[os.write(number, line) :]
                except BlockingIOError:
                    _ready(number, select.POLLOUT)
                except OSError:
                    return

    def _read(self) -> None:
        lines = _lines(self._streams[1].fileno(), LONGEST_LINE, self._over)
        for line in itertools.chain((each for each in lines if each.strip()), [None]):
            while not self._over.is_set():
                with contextlib.suppress(queue.Full):
                    self._answers.put(line, timeout=_PAUSE)
                    break

    def _read_errors(self) -> None:
        self._errors.extend(
            each[:_LONGEST_WORD] for each in _lines(self._streams[2].fileno(), _LONGEST_WORD, self._over)
        )

    def send(self, request: Mapping[str, Any]) -> None:
        """Hand over a question; a program that is gone is noticed where its answer is missing."""
        self._requests.put(json.dumps(request, separators=(",", ":")).encode() + b"\n")

    def receive(self, seconds: float) -> Answer:
        """Return the next answer, or why there is none."""
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            return Failure("timeout", f"no answer within {seconds:g} s")
        if line is None:
            return Failure("exited", self._farewell(min(seconds, _PATIENCE)))
        if len(line) > LONGEST_LINE:
            return Failure("bad-line", f"the answer is longer than {LONGEST_LINE:,} bytes: {_shown(line)}")
        try:
            answer = json.loads(line, parse_constant=_no_number, parse_float=_fraction)
            if not isinstance(answer, dict):
                return Failure("bad-line", f"the answer is no JSON object: {_shown(line)}")
            if _is_deep(answer):
                return Failure("bad-line", f"the answer is nested deeper than {_DEEPEST} levels: {_shown(line)}")
        except (ValueError, RecursionError):
            return Failure("bad-line", f"the answer is not JSON: {_shown(line)}")
        return answer

    def _farewell(self, seconds: float) -> str:
        """Say how the program ended, with the last that it wrote to standard error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(seconds)
        code = self._child.poll()
        self._threads[2].join(0 if code is None else seconds)
        how = "closed its output" if code is None else f"exited with code {code}"
        words = b"\n".join(self._errors).decode(errors="replace").strip()
        return f"the implementation {how} without an answer" + (f": {words}" if words else "")

    def end(self) -> None:
        """Kill the program with its children; one that got away may hold its streams, and is left alone."""
        self._over.set()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        for thread in self._threads:
            thread.join()
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        text = f"cannot start the implementation {_shown(command.encode(errors='replace'))}: {error}"
        raise HarnessError(Failure("exited", text)) from None


def _lines(number: int, longest: int, over: threading.Event) -> Iterator[bytes]:
    """Yield the lines of a pipe to its end, or until it is over; of one that is too long as much as shows that."""
    held, size = [], 0
    while not over.is_set():
        if not _ready(number, select.POLLIN):
            continue
        data = os.read(number, _CHUNK)
        ended, *lines = (data or b"\n").split(b"\n")
        if size <= longest:
            held.append(ended)
            size += len(ended)
            if lines or size > longest:
                yield b"".join(held)
        if lines:
            yield from lines[:-1]
            held, size = lines[-1:], len(lines[-1])
            if size > longest:
                yield lines[-1]
        if not data:
            return


def _ready(number: int, event: int) -> bool:
    """Wait a moment for a stream, and return whether something can be done with it."""
    poll = select.poll()
    poll.register(number, event)
    return bool(poll.poll(1000 * _PAUSE))


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _fraction(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _no_number(text)
    return number


def _is_deep(answer: Json) -> bool:
    level: list[Any] = [answer]
    for _ in range(_DEEPEST):
        inner = (each for outer in level for each in (outer.values() if isinstance(outer, dict) else outer))
        level = [each for each in inner if isinstance(each, dict | list)]
    return bool(level)


def _shown(line: bytes) -> str:
    text = line[: 8 * _SHOWN].decode(errors="replace").strip()
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
