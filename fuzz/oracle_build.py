"""
Builds the Go programs that answer as upstream does, one binary for each release, and caches them.

A program is a folder below `fuzz/upstream/` with Go sources and, in `lines/`, one module file and one checksum file
for each release. Nothing of upstream is kept here: the Go tool fetches the pinned modules when a program is built.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent
PROGRAMS = (
    "allocator",
    "apiserver",
    "tracker",
    "table",
    "fleet",
    "selectors",
    "controlplane",
    "plugins",
    "kueue",
    "quota",
)
TEST_PROGRAMS = ("table",)
#: Whole programs of upstream: each line takes minutes of all processors, so that tests ask the newest line alone.
NEWEST_ONLY = ("controlplane", "plugins")
BUILD_SECONDS = 5400
#: How long a binary is kept that nobody asks for.
KEPT_SECONDS = 7 * 86_400
_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)(?:-(alpha|beta|rc)\.(\d+))?\.mod")
#: The Go that a module file needs; where the installed one is older, that one is used.
_GO_LINE = re.compile(r"^go (\d+\.\d+(?:\.\d+)?)$", re.MULTILINE)
_STAGES = {"alpha": 0, "beta": 1, "rc": 2, None: 3}


class OracleUnavailable(Exception):
    """The Go program cannot be had here; the text says what it needs."""


@dataclass(frozen=True, slots=True, order=True)
class _Version:
    key: tuple[int, int, int, int, int]
    text: str

    @property
    def line(self) -> str:
        return f"{self.key[0]}.{self.key[1]}"


def _parse(name: str) -> _Version | None:
    match = _VERSION.fullmatch(name)
    if match is None:
        return None
    major, minor, patch, stage, number = match.groups()
    key = (int(major), int(minor), int(patch), _STAGES[stage], int(number or 0))
    return _Version(key, name.removeprefix("v").removesuffix(".mod"))


def _known(program: str) -> list[_Version]:
    found = (_parse(path.name) for path in (ROOT / "upstream" / program / "lines").glob("*.mod"))
    return sorted(version for version in found if version is not None)


def versions(program: str = "allocator") -> tuple[str, ...]:
    """Every version that the program can be built for, oldest first."""
    return tuple(version.text for version in _known(program))


def newest(program: str = "allocator") -> tuple[str, ...]:
    """The newest version of each release line that the program can be built for."""
    return tuple({version.line: version.text for version in _known(program)}.values())


def unasked(program: str) -> tuple[str, ...]:
    """The versions that are built where none is named."""
    return versions(program)[-1:] if program in NEWEST_ONLY else versions(program)


def resolve(release: str, program: str = "allocator") -> str:
    """
    The version that a release names: a minor alone is its newest patch known here.

    Raises: OracleUnavailable for a release without a module file.
    """
    by_name = {version.line: version.text for version in _known(program)}
    by_name |= {version.text: version.text for version in _known(program)}
    if release not in by_name:
        raise OracleUnavailable(f"{program}: no release {release!r}; there are {', '.join(by_name)}")
    return by_name[release]


def go_missing() -> str | None:
    """Why nothing can be built here, or None if a Go toolchain is present."""
    return None if shutil.which("go") else "needs Go"


def build(release: str, program: str = "allocator") -> Path:
    """
    The program's binary for a release, built if its sources or pins changed since the last time.

    Raises: OracleUnavailable where there is no Go, or the modules cannot be had.
    """
    version = resolve(release, program)
    source = ROOT / "upstream" / program
    reason = go_missing()
    if reason is not None:
        raise OracleUnavailable(reason)
    binary = cache_folder() / f"{program}-{version}-{_digest(source, version)}"
    if not binary.exists():
        with _lock(binary):
            if not binary.exists():
                _compile(source, version, binary)
                _drop_unused(binary, f"{program}-{version}-")
    os.utime(binary)  # says when it was last wanted
    return binary


def cache_folder() -> Path:
    """The folder, not under version control, in which binaries and extracted tables are kept."""
    folder = Path(os.environ.get("DRA_ALLOC_ORACLE_CACHE") or ROOT.parent / ".cache" / "oracle")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(source: Path, version: str) -> str:
    digest = hashlib.sha256()
    sources = [*source.rglob("*.go"), *source.glob("*.s"), *source.glob("*/go.mod")]
    sources += _shared_sources(sources)
    pins = [source / "lines" / f"v{version}{suffix}" for suffix in (".mod", ".sum")]
    for path in [*sorted(sources), *pins]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _shared_sources(sources: list[Path]) -> list[Path]:
    """What the sources import of ours: only who imports a package is built again when it changes."""
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    module = ROOT / "upstream" / "harness"
    folders = {'"dra-alloc/upstream/harness"': module, '"dra-alloc/upstream/harness/named"': module / "named"}
    found = [path for package, folder in folders.items() if package in text for path in folder.glob("*.go")]
    return [*found, module / "go.mod"] if found else []


def build_tags(version: str) -> str:
    """The build tags by which the sources tell releases apart: `line_1_36` for 1.36.2, and `prerelease`."""
    major, minor = version.split(".")[:2]
    return f"line_{major}_{minor}" + (",prerelease" if "-" in version else "")


def go_environment(pins: Path | None = None) -> dict[str, str]:
    """The environment for the Go tool: two compilers at a time, of the Go that the pins ask for."""
    flags = [flag for flag in os.environ.get("GOFLAGS", "").split() if not flag.startswith(("-p=", "-mod="))]
    wanted = _GO_LINE.search(pins.read_text(encoding="utf-8")) if pins is not None else None
    newer = wanted is not None and _numbers(wanted[1]) > _numbers(_local_go())
    chosen = {"GOTOOLCHAIN": f"go{wanted[1]}"} if newer and wanted is not None else {}
    return os.environ | {"GOFLAGS": " ".join([*flags, "-p=2"]), "CGO_ENABLED": "0"} | chosen


@cache
def _local_go() -> str:
    """The version of Go that is installed; a newer one that a release needs is fetched as modules are."""
    asked = subprocess.run(
        ["go", "env", "GOVERSION"],
        env=os.environ | {"GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=True,
    )
    return asked.stdout.strip().removeprefix("go")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _compile(source: Path, version: str, binary: Path) -> None:
    partial = binary.with_suffix(f".{os.getpid()}.tmp")
    verb = ["go", "test", "-c", "-vet=off"] if source.name in TEST_PROGRAMS else ["go", "build"]
    command = [*verb, "-trimpath", "-mod=readonly", "-buildvcs=false", "-tags", build_tags(version)]
    command += [f"-modfile=lines/v{version}.mod", "-o", str(partial), "."]
    try:
        done = subprocess.run(
            command,
            cwd=source,
            env=go_environment(source / "lines" / f"v{version}.mod"),
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise OracleUnavailable(f"needs the modules of Kubernetes {version}: the build took too long") from error
    if done.returncode:
        raise OracleUnavailable(f"needs the modules of Kubernetes {version}: {done.stderr.strip()[-2000:]}")
    partial.replace(binary)


def _drop_unused(binary: Path, prefix: str) -> None:
    """Remove what was not wanted for long; what another checkout, or a run that goes on, was built from stays."""
    for path in binary.parent.glob(f"{prefix}*"):
        if path.name != binary.name and path.suffix != ".lock" and time.time() - path.stat().st_mtime > KEPT_SECONDS:
            path.unlink(missing_ok=True)


@contextmanager
def _lock(binary: Path) -> Iterator[None]:
    """Only one process builds; the others wait and find the binary."""
    with binary.with_name(f"{binary.name.rsplit('-', 1)[0]}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Build what tests and the bounded fuzzing ask; unlike `fuzz.oracle` this needs no package but Python's own."""
    wanted = [("allocator", each) for each in versions()]
    wanted += [(program, each) for program in ("tracker", "apiserver", "kueue", "quota") for each in newest(program)]
    wanted += [(program, each) for program in NEWEST_ONLY for each in unasked(program)]
    for program, version in [*wanted, ("table", "1.36")]:
        print(build(version, program), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
