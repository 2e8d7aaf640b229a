"""
Files with their objects in another version of resource.k8s.io, or in one that a release has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from dra_alloc.errors import InputError, ManifestError, Problem, Where, in_brief
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.convert.objects import Goal
from dra_alloc.manifest.convert.texts import ConvertedText, convert_text
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.manifest.kinds import RESOURCE_GROUP, SERVED, Unserved
from dra_alloc.manifest.read.inputs import SkippedInput, UnreadableInput, sources, without_empty
from dra_alloc.manifest.snapshot.header import looks_like_snapshot
from dra_alloc.releases import start_of


@dataclass(frozen=True, slots=True)
class Conversion:
    """
    What became of files, in their order, without those of folders that have nothing of resource.k8s.io.

    It is `empty` where no file has anything to read: templates that were not rendered, and blank ones.
    """

    texts: tuple[ConvertedText, ...]
    warnings: tuple[Problem, ...] = ()
    empty: bool = False

    @property
    def changed(self) -> tuple[ConvertedText, ...]:
        """The texts in which something is converted."""
        return tuple(text for text in self.texts if text.after != text.before)


def convert_files(paths: Sequence[str], goal: Goal) -> Conversion:
    """
    Return the texts of files, folders and standard input with their objects in the versions of the goal.

    Raises: ManifestError, with every problem of every file; then nothing is converted.
    """
    texts: list[ConvertedText] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    empty = True
    for source in without_empty(sources(paths, None, DEFAULT_BUDGET)):
        if isinstance(source, UnreadableInput):
            problems.append(source.problem)
        elif isinstance(source, SkippedInput):
            warnings.append(source.warning)
        elif looks_like_snapshot(source.data):
            said = "is a snapshot: convert what it was made of, and pack that"
            problems.append(Problem(said, Where(file=source.name)))
        elif source.found and RESOURCE_GROUP.encode() not in source.data:
            empty = empty and _is_blank(source.data)
        else:
            with gc_paused():
                text = convert_text(source, goal)
            (warnings if text.unrendered else problems).extend(text.problems)
            if not text.unrendered:
                texts.append(text)
                empty = empty and _is_blank(source.data)
    if problems:
        raise ManifestError(problems, "converted")
    return Conversion(tuple(texts), tuple(warnings), empty)


def _is_blank(data: bytes) -> bool:
    """Return whether a text has nothing but comments and marks of documents."""
    return all(not line.strip() or line.lstrip().startswith(b"#") or line.strip() == b"---" for line in BytesIO(data))


def goal_in(release: str) -> Goal:
    """
    Return the goal of a release, known or announced: what it has stays, all else has the best version that it has.

    Raises: InputError, for what is no release.
    """
    try:
        wanted = start_of(release.removeprefix("v"))
    except ValueError:
        raise InputError(f"unknown release {in_brief(release)!r}", hint="such as 1.38") from None

    def goal(kind: str, version: str) -> str:
        versions = SERVED.get(kind, {})
        if version not in versions or versions[version].holds(wanted):
            return version
        found = next((each for each, span in versions.items() if span.holds(wanted)), None)
        if found is None:
            raise Unserved(f"Kubernetes {release.removeprefix('v')} has no {kind}", "it has no replacement")
        return found

    return goal
