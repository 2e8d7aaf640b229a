"""
Kinds that nobody described: taught on the command line, found by the shape of what they hold, or misspelt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from dra_alloc.errors import InputError, Problem, Where, in_brief
from dra_alloc.manifest import Workload
from dra_alloc.manifest.kinds import is_read, kind_named, no_match
from dra_alloc.manifest.read.paths import Path, render, tokens
from dra_alloc.pods.workloads.plans import Around, Misfit, PodPlan, PodSet
from dra_alloc.pods.workloads.reading import bounded, controller_of, copies, template_in, together, value_at
from dra_alloc.pods.workloads.table import MAKERS


@dataclass(frozen=True, slots=True)
class Taught:
    """
    What `--pod-template` says of a kind: where its pod templates stand, and the number of the pods of each.

    A ``*`` in the paths stands for every member of a list, the same in both. Without a `path` it makes no pods.
    """

    kind: str
    path: str
    count: str = ""

    def fits(self, workload: Workload) -> bool:
        """Say whether a workload is of the kind, which may have its group: ``Kind`` or ``Kind.group``."""
        return self.kind in (workload.kind, f"{workload.kind}.{workload.group}")


def taught_by(text: str) -> Taught:
    """Return what ``KIND=PATH[:COUNT]`` says. Spec: EXPAND-51. Raises: InputError."""
    kind, equals, rest = text.partition("=")
    path, _, count = rest.partition(":")
    if not kind or not equals:
        hint = "such as MyKind=spec.template:spec.replicas, or MyKind= for one that makes no pods"
        raise InputError(f"a pod template is taught as KIND=PATH[:COUNT], not {in_brief(text)!r}", hint=hint)
    return Taught(kind, path.strip().lstrip("."), count.strip().lstrip("."))


def by_rule(rule: Taught, workload: Workload, around: Around) -> PodPlan:
    """Return what a kind makes by what was taught of it. Spec: EXPAND-51. Raises: Misfit."""
    if not rule.path:
        return PodPlan()
    sets = []
    for steps in _spread(workload.body, tokens(rule.path), ()):
        count = rule.count
        for step in steps:
            count = count.replace("*", str(step), 1) if isinstance(step, int) else count
        number = copies(workload.body, count, 1) if count else 1
        sets.append(_one(workload, render(steps), number, around))
    if not sets:
        raise Misfit(rule.path, "there is no pod template")
    return PodPlan(together(sets))


def _spread(value: Any, steps: tuple[str, ...], before: Path) -> Iterator[Path]:
    """Yield the paths that a path with stars stands for, as far as there is something."""
    if not steps:
        yield before
    elif steps[0] == "*":
        for position, each in enumerate(value if isinstance(value, list | tuple) else ()):
            yield from _spread(each, steps[1:], (*before, position))
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _spread(value[steps[0]], steps[1:], (*before, steps[0]))
    elif isinstance(value, list | tuple) and steps[0].isdecimal() and int(steps[0]) < len(value):
        yield from _spread(value[int(steps[0])], steps[1:], (*before, int(steps[0])))


def assumed(workload: Workload, around: Around) -> PodPlan:
    """
    Return one pod for each pod spec that a workload holds, named as assumed, and say so.

    Spec: EXPAND-50. Raises: Misfit.
    """
    sets = [_one(workload, each.path.removesuffix(".spec"), 1, around) for each in workload.templates]
    called = workload.called
    paths = ", ".join(each.path for each in workload.templates)
    first = workload.templates[0].path.removesuffix(".spec")
    beside = f"{first.rpartition('.')[0]}.replicas".lstrip(".")
    replicas = value_at(workload.body, beside)
    teach = f"{workload.kind}={first}{f':{beside}' if isinstance(replicas, int) else ''}"
    counted = f"; {beside} is not looked at" if isinstance(replicas, int) else ""
    note = (
        f"{called}: its kind is not known; one pod is assumed for {paths}{counted} (teach it: --pod-template {teach})"
    )
    return PodPlan(together(sets), notes=(note,))


def _one(workload: Workload, path: str, count: int, around: Around) -> PodSet:
    found = value_at(workload.body, path)
    inner = isinstance(found, Mapping) and isinstance(found.get("spec"), Mapping)
    template = template_in(workload.body, path) if inner else {"metadata": {}, "spec": found}
    if not isinstance(template["spec"], Mapping):
        raise Misfit(path, "there is no pod template")
    base = f"{workload.name}-"
    there = around.pods(workload)
    return PodSet(
        template, f"{path}.spec" if inner else path, controller_of(workload), bounded(count, path), base, there=there
    )


#: Groups whose kinds are all known.
_CLOSED: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset(
        {
            *("Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node"),
            *("PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController"),
            *("ResourceQuota", "Secret", "Service", "ServiceAccount", "Status"),
        }
    ),
    "apps": frozenset({"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}),
    "batch": frozenset({"CronJob", "Job"}),
    "extensions": frozenset(),
}

#: Kinds that were renamed, and what they are called.
_FORMER: Final[Mapping[tuple[str, str], str]] = {("grove.io", "PodGangSet"): "PodCliqueSet"}


def unserved_kind(api_version: str, kind: str) -> Problem | None:
    """
    Return what the API server says of a kind that it does not serve: one of a group that is known, or misspelt.

    Spec: EXPAND-52.
    """
    group, _, version = api_version.rpartition("/")
    closed = _CLOSED.get(group)
    ours = {each.kind: each.versions for each in MAKERS if each.group == group}
    if kind in ours or kind in (closed or ()):
        versions = ours.get(kind, ("v1",))
        if not versions or version in versions:
            return None
        return _no_match(api_version, kind, f"its version is {f'{group}/' if group else ''}{versions[0]}")
    if (group, kind) in _FORMER:
        return _no_match(api_version, kind, f"it is called {_FORMER[group, kind]}")
    elsewhere = [each.group for each in MAKERS if each.kind == kind]
    if closed is None and elsewhere:
        elsewhere = [each for each in elsewhere if get_close_matches(group, [each], 1, _NEAR)]
        return _no_match(api_version, kind, f"its group is {elsewhere[0]}") if elsewhere else None
    if elsewhere:
        return _no_match(
            api_version, kind, f"its group is {' or '.join(each or 'the core one: v1' for each in elsewhere)}"
        )
    near = get_close_matches(kind, (*ours, *(closed or ())), 1, _NEAR if closed is None else _ALIKE)
    if closed is None and not near:
        return None
    if is_read(kind):
        return _no_match(api_version, kind, f"its group is {kind_named(kind).group}")
    return _no_match(api_version, kind, f"did you mean {near[0]}?" if near else "")


def unserved_kinds(unknown: Iterable[str]) -> dict[str, Problem]:
    """Return what the API server says of those among ``APIVERSION KIND`` that it does not serve; no line is known."""
    found = {each: unserved_kind(*each.split(" ", 1)) for each in unknown}
    return {kind: replace(each, where=Where("the manifests")) for kind, each in found.items() if each is not None}


#: How alike a kind is that was meant, where there may be others, and where there are none.
_NEAR: Final = 0.8
_ALIKE: Final = 0.6


def _no_match(api_version: str, kind: str, hint: str) -> Problem:
    return Problem(no_match(api_version, kind), hint=hint)
