"""
What is wrong with inputs as a whole: none, nothing in them that is looked at, or one read twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from dra_alloc.errors import InputError, Problem, first_few
from dra_alloc.manifest import Documents
from dra_alloc.manifest.kinds import QUEUEING
from dra_alloc.manifest.make.hints import PASSED_OVER
from dra_alloc.manifest.read.inputs import STDIN

#: Groups of Kubernetes itself, beside those that end with the second: kinds of theirs that are not read make no pods.
_OWN: Final = ("", "apps", "autoscaling", "batch", "extensions", "policy")
_OWN_END: Final = ".k8s.io"


def check_stdin_once(paths: Sequence[str]) -> None:
    """Raise InputError if standard input is named twice."""
    if paths.count(STDIN) > 1:
        raise InputError("standard input can be read only once", hint="name - in one place")


def nothing_given(warnings: Iterable[Problem] = ()) -> InputError:
    """Return what is said of manifests without any object, or any that was rendered."""
    if any(each.message == PASSED_OVER for each in warnings):
        said = "there is nothing in the manifests but templates that were not rendered"
        return InputError(said, hint='render them first, as with "helm template"')
    return InputError("there is no object in the manifests", hint="what was to write or render them may have failed")


def nothing_known(manifests: Documents, idle: Collection[str] = ()) -> InputError | None:
    """
    Return what is said of manifests in which nothing is that pods or claims come of, but kinds that are not known.

    Of these nobody can say whether they fit: it is not said that they do. Kinds of Kubernetes itself and of queue
    systems that are not looked at make no pods, nor do those that are `idle`, as ``Kind`` or ``Kind.group``.

    Spec: EXPAND-66.
    """
    if manifests.pods or manifests.workloads or manifests.claims or manifests.templates:
        return None
    unknown = {name: count for name, count in manifests.unknown.items() if not _makes_no_pods(name, idle)}
    if not unknown:
        return None
    listed = first_few([f"{count} {name}" for name, count in sorted(unknown.items())], "other kinds")
    said = f"nothing in the manifests is of a kind that is looked at, and what these make is not known: {listed}"
    kind = next(iter(unknown)).rpartition(" ")[2]
    hint = f"give the pods and claims that a controller makes of these; --pod-template {kind}= says that it makes none"
    return InputError(said, hint=hint)


def _makes_no_pods(name: str, idle: Collection[str]) -> bool:
    version, _, kind = name.rpartition(" ")
    group = version.rpartition("/")[0]
    own = group in _OWN or group.endswith(_OWN_END) or (group, kind) in QUEUEING
    return own or kind in idle or f"{kind}.{group}" in idle
