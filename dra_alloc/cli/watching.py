"""
A command that answers again whenever a file that it reads is saved.

Files are looked at a few times a second: that works on every system and file
system, with editors that write in place and those that rename, and needs
nothing installed.
"""

from __future__ import annotations

import gc
import os
import stat
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.interrupts import heard
from dra_alloc.cli.output import given_paths, nobody_reads, tell, write
from dra_alloc.errors import InputError, first_few
from dra_alloc.manifest.read.inputs import STDIN, files_of, folders_of

#: Seconds between two looks; for how long files have to stay as they are before they are read, and how often at most.
_LOOK: Final = 0.2
_SETTLED: Final = 0.05
_SETTLING: Final = 6

#: What tells one content of a file from another: when it was written and changed, its size, and which file it is.
_Stamp = tuple[int, int, int, int]
#: The stamps of files by name, None for one that is not there.
_Stamps = Mapping[str, _Stamp | None]


def watched(options: Namespace, parsed: Callable[[], Namespace | int], answer: Callable[[Namespace], int]) -> int:
    """
    Answer, and again after each change of a file that was read, until Ctrl-C or until nobody reads the answers.

    Options are `parsed` anew each time, as a settings file may have changed. Bad input is an answer, too.

    Raises: InputError for what cannot be watched.
    """
    paths = _watchable(given_paths(options))
    number = 1
    fresh: Namespace | int = options
    while True:
        began, seen = time.time_ns(), _stamps(paths)
        code = fresh if isinstance(fresh, int) else answer(fresh)
        if code == ExitCode.INTERRUPTED or nobody_reads():
            return code
        if not isinstance(fresh, int):
            options, paths = fresh, [*given_paths(fresh), *getattr(fresh, "beside", ())]
        now = _stamps(paths)
        # What was found on the way and saved meanwhile may have been read before.
        seen = {name: seen.get(name, None if each is None or each[0] >= began else each) for name, each in now.items()}
        tell(f"exit code {code}; {len(seen)} files and folders are watched, Ctrl-C ends")
        # What an answer leaves goes in circles, and the collector looks seldom.
        gc.collect()
        changed = _changed(seen, paths)
        number += 1
        _announce(options, f"answer {number}, after a change of {first_few(changed)}")
        fresh = parsed()


def _watchable(paths: list[str]) -> list[str]:
    """Return the paths. Raises: InputError if there are none, or one can be read only once."""
    if not paths:
        raise InputError("--watch: there is no file to watch")
    for path in paths:
        once = path == STDIN or (os.path.exists(path) and not _is_kept(os.stat(path).st_mode))  # noqa: PTH110, PTH116
        if once:
            raise InputError(f"--watch: {path} can be read only once", hint="save it to a file")
    return paths


def _is_kept(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _stamps(paths: Iterable[str]) -> dict[str, _Stamp | None]:
    """Return the stamps of the files that paths stand for, those of folders with the folders."""
    names = dict.fromkeys(name for path in paths for name in (path, *folders_of(path), *files_of([path])))
    return {name: _stamp(name) for name in names}


def _stamp(name: str) -> _Stamp | None:
    try:
        found = os.stat(name)  # noqa: PTH116 - thousands a second, perhaps
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return 0, 0, 0, found.st_ino  # what is in it has stamps of its own
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _changed(seen: _Stamps, paths: Iterable[str]) -> list[str]:
    """Wait until files are other ones than were seen, and settled; return which."""
    paths = tuple(paths)
    while not heard():  # an exception in what the collector calls is lost
        began = time.monotonic()
        now = _stamps(paths)
        took = time.monotonic() - began
        if now != seen:
            for _ in range(_SETTLING):
                time.sleep(_SETTLED)
                before, now = now, _stamps(paths)
                if now == before:
                    break
            return [name for name in {**seen, **now} if seen.get(name) != now.get(name)] or list(now)[:1]
        time.sleep(max(_LOOK, took))
    raise KeyboardInterrupt


def _announce(options: Namespace, said: str) -> None:
    """Say that another answer follows: where a reader of text sees it, else beside the answers."""
    if getattr(options, "format", "text") == "text":
        write(f"\n== {said} ==\n\n")
    else:
        tell(f"== {said} ==")
