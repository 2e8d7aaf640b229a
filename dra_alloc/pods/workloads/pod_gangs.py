"""
Grove's PodGangs: which cliques of a PodCliqueSet are placed together, where, after which others, and how they start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from dra_alloc.errors import first_few, in_brief
from dra_alloc.manifest import Workload
from dra_alloc.pods.gangs.topology import TopologyConstraint
from dra_alloc.pods.gangs.trees import SubGroup
from dra_alloc.pods.workloads.reading import bounded, copies, items, number_in, text, value_at

#: The label by which a pod is of a clique.
CLIQUE: Final = "grove.io/podclique"
_AT: Final = "spec.template"
_GROUPS: Final = "podCliqueScalingGroups"
_STARTS: Final = ("", *(f"CliqueStartupType{each}" for each in ("AnyOrder", "InOrder", "Explicit")))
#: How long the names that a pod's name is made of may be together.
_LONGEST: Final = 45
_PACKS: Final = ("pack.required", "packDomain")
#: The domains of topologies, the widest first, with their labels, by the names of topologies.
Bindings = Mapping[str, Mapping[str, str]]
#: What levels of a topology ask of pods: topology, required level, preferred level.
Constraining = Callable[[str, str, str], TopologyConstraint]


@dataclass(frozen=True, slots=True)
class PodGang:
    """
    A PodGang: groups of its cliques as a list with parents, and the gang `after` whose scheduling it may go.

    `waves` are its cliques, by the names of their templates, in the order in which they start.
    """

    name: str
    root: SubGroup
    below: tuple[SubGroup, ...]
    after: str = ""
    waves: tuple[tuple[str, ...], ...] = ()

    @property
    def cliques(self) -> Iterator[str]:
        """The names of its cliques."""
        parents = {each.parent for each in self.below}
        return (each.name for each in self.below if each.name not in parents)


def pod_gangs(workload: Workload, constrain: Constraining) -> tuple[PodGang, ...]:
    """
    Return the gangs of a PodCliqueSet: each base gang, and those of the replicas of scaling groups beyond it.

    Spec: GANGTREE-6, GANGTREE-8, GANGTREE-9. Raises: Misfit.
    """
    making = _Making.of(workload, constrain)
    return tuple(gang for index in range(replicas_of_set(workload)) for gang in making.gangs(index))


def replicas_of_set(workload: Workload) -> int:
    """
    Return the replicas of a PodCliqueSet: as its cliques may have no pods, these do not bound what it makes.

    Raises: Misfit, if it has more cliques than are tried: its replicas times those of its scaling groups.
    """
    template = value_at(workload.body, _AT)
    grouped = {name for group in items(template, _GROUPS) for name in _names(group)}
    cliques = sum(text(each, "name") not in grouped for each in items(template, "cliques"))
    for at, group in _listed(template, _GROUPS):
        cliques += copies(group, "replicas", 1, f"{_AT}{at}") * max(1, len(_names(group)))
    replicas = copies(workload.body, "spec.replicas", 0)
    bounded(replicas * cliques, "spec.replicas", "cliques")
    return replicas


@dataclass(frozen=True, slots=True)
class _Making:
    """The gangs of a set under way."""

    name: str
    template: Any
    cliques: Mapping[str, Any]
    groups: tuple[Any, ...]
    topology: str
    constrain: Constraining

    @classmethod
    def of(cls, workload: Workload, constrain: Constraining) -> _Making:
        template = value_at(workload.body, _AT) or {}
        cliques = {text(each, "name"): each for each in items(template, "cliques")}
        named = next(iter(_topology_names(template)), "")
        return cls(workload.name, template, cliques, items(template, _GROUPS), named, constrain)

    def gangs(self, index: int) -> Iterator[PodGang]:
        """Yield the base gang of a replica, and those after it."""
        base = f"{self.name}-{index}"
        grouped = {name for group in self.groups for name in _names(group)}
        alone = [name for name in self.cliques if name not in grouped]
        below = [self._clique(base, name) for name in alone]
        of_base, later = list(alone), list[PodGang]()
        for group in self.groups:
            called, needed = f"{base}-{text(group, 'name')}", number_in(group, "minAvailable", 1)
            for number in range(copies(group, "replicas", 1)):
                part, names = f"{called}-{number}", [name for name in _names(group) if name in self.cliques]
                packed = self._packed(group)
                if number >= needed:
                    root = SubGroup("", topology=packed or self._packed(self.template))
                    cliques = tuple([self._clique(part, name) for name in names])
                    gang = f"{called}-{number - needed}"
                    later.append(PodGang(gang, root, cliques, base, startup_waves(self.template, names)))
                    continue
                of_base += names
                if packed:
                    below.append(SubGroup(part, topology=packed))
                below += [self._clique(part, name, part if packed else "") for name in names]
        root = SubGroup("", topology=self._packed(self.template))
        if below:
            yield PodGang(base, root, tuple(below), waves=startup_waves(self.template, of_base))
        yield from later

    def _clique(self, base: str, name: str, parent: str = "") -> SubGroup:
        spec = value_at(self.cliques[name], "spec") or {}
        least = number_in(spec, "minAvailable", number_in(spec, "replicas", 1))
        return SubGroup(f"{base}-{name}", parent, least, topology=self._packed(self.cliques[name]))

    def _packed(self, part: Any) -> TopologyConstraint:
        required, preferred = _levels(part)
        return self.constrain(self.topology if required or preferred else "", required, preferred)


def startup_waves(template: Any, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """
    Return cliques of a set's template in the order in which they start: those at once that wait for none of the others.

    Those in a circle are left out.

    Spec: GANGTREE-9.
    """
    left = {name: [each for each in _after(template).get(name, ()) if each in names] for name in names}
    waves: list[tuple[str, ...]] = []
    while free := tuple([name for name, before in left.items() if not any(each in left for each in before)]):
        waves.append(free)
        for name in free:
            del left[name]
    return tuple(waves)


def _after(template: Any) -> Mapping[str, Sequence[str]]:
    """Return which cliques each one waits for."""
    cliques = items(template, "cliques")
    match text(template, "cliqueStartupType"):
        case "CliqueStartupTypeExplicit":
            return {text(each, "name"): _texts(each, "spec.startsAfter") for each in cliques}
        case "CliqueStartupTypeInOrder":
            names = [text(each, "name") for each in cliques]
            return {name: (before,) for before, name in pairwise(names)}
        case _:
            return {}


def set_faults(workload: Workload, bindings: Bindings | None) -> Iterator[tuple[str, str]]:
    """
    Yield why Grove refuses a PodCliqueSet, path and words; `bindings` are the domains of topologies, with their labels.

    Where it is not known which there are, nothing is said of them.

    Spec: GANGTREE-10.
    """
    template = value_at(workload.body, _AT) or {}
    named, started = _name_faults(workload.name, template), _startup_faults(template)
    for at, said in (
        *named,
        *_claim_faults(template),
        *started,
        *_least_faults(template),
        *_pack_faults(template, bindings),
    ):
        yield f"{_AT}{at}", said


def _name_faults(name: str, template: Any) -> Iterator[tuple[str, str]]:
    cliques, groups = (list(_listed(template, key)) for key in ("cliques", _GROUPS))
    for parts in (cliques, groups):
        names = [text(each, "name") for _, each in parts]
        for number, (at, _) in enumerate(parts):
            if names[number] in names[:number]:
                yield f"{at}.name", f"{in_brief(names[number])} is there before"
    grouped = [(text(group, "name"), called) for _, group in groups for called in _names(group)]
    for number, (_, called) in enumerate(grouped):
        if called in [before for _, before in grouped[:number]]:
            yield f".{_GROUPS}", f"clique {in_brief(called)} is in two scaling groups, or twice in one"
    inside = {called for _, called in grouped}
    alone = [("", called) for _, each in cliques if (called := text(each, "name")) not in inside]
    longest = max(((name, *each) for each in (*alone, *grouped)), key=lambda each: len("".join(each)), default=())
    length = len("".join(longest))
    if length > _LONGEST:
        which = " and ".join(in_brief(each) for each in longest if each)
        yield "", f"names of a set and its parts have at most {_LONGEST} characters together, not {length}: {which}"


def _claim_faults(template: Any) -> Iterator[tuple[str, str]]:
    names: list[str] = []
    for at, each in _listed(template, "resourceClaimTemplates"):
        called = text(each, "name")
        if not called or called in names:
            yield f"{at}.name", f"{in_brief(called)} is there before" if called else "is missing"
        if not items(each, "templateSpec.spec.devices.requests"):
            yield f"{at}.templateSpec.spec.devices.requests", "a claim template has at least one request"
        names.append(called)


def _startup_faults(template: Any) -> Iterator[tuple[str, str]]:
    names = {text(each, "name") for each in items(template, "cliques")}
    after, kind = _after(template), text(template, "cliqueStartupType")
    if kind not in _STARTS:
        yield ".cliqueStartupType", f"there is no {in_brief(kind)}, but {', '.join(_STARTS[1:])}"
    for at, each in _listed(template, "cliques"):
        unknown = [name for name in after.get(text(each, "name"), ()) if name not in names]
        if unknown:
            yield f"{at}.spec.startsAfter", f"there is no clique {first_few(unknown)}"
    circle = names.difference(*startup_waves(template, sorted(names)))
    if circle:
        yield ".cliques", f"cliques start after one another in a circle: {first_few(sorted(circle))}"
    schedulers = dict.fromkeys(text(each, "spec.podSpec.schedulerName") for each in items(template, "cliques"))
    if len(schedulers) > 1:
        said = first_few([each or "none" for each in schedulers])
        yield ".cliques", f"the schedulerName of all cliques has to be the same, and they have {said}"


def _least_faults(template: Any) -> Iterator[tuple[str, str]]:
    cliques = ((f"{at}.spec", value_at(each, "spec")) for at, each in _listed(template, "cliques"))
    for at, part in (*cliques, *_listed(template, _GROUPS)):
        replicas, least = (value_at(part, each) for each in ("replicas", "minAvailable"))
        count = replicas if type(replicas) is int else 1
        if type(least) is int and not 0 < least <= count:
            yield f"{at}.minAvailable", f"{least} is not from 1 to the replicas, which are {count}"


def _listed(template: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a list, each with its path."""
    return ((f".{key}[{number}]", each) for number, each in enumerate(items(template, key)))


def _pack_faults(template: Any, bindings: Bindings | None) -> Iterator[tuple[str, str]]:
    names = list(dict.fromkeys(_topology_names(template)))
    named = names[0] if names else ""
    domains = bindings.get(named) if bindings is not None else None
    if len(names) > 1:
        yield "", f"topologies of one set have to be the same, and it names {first_few(names)}"
    for at, part in _parts(template):
        if value_at(part, "topologyConstraint") is None:
            continue
        where, wanted = f"{at}.topologyConstraint", [each for each in _levels(part) if each]
        if not wanted:
            yield where, "pack names no domain, required or preferred"
        if not named:
            yield where, "there is no topologyName, here or above"
        elif bindings is not None and domains is None:
            yield where, f"there is no ClusterTopologyBinding {named}"
        for each in wanted if domains is not None else ():
            if each not in (domains or {}):
                yield where, f"ClusterTopologyBinding {named} has no domain {each}"
    yield from _wider(template, domains or {})


def _wider(template: Any, domains: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield parts of a set that may be wider apart than what they are a part of."""
    order = {name: number for number, name in enumerate(domains)}
    cliques = {text(each, "name"): (at, each) for at, each in _listed(template, "cliques")}
    pairs = [("the set", template, f"clique {name}", *each) for name, each in cliques.items()]
    for at, group in _listed(template, _GROUPS):
        called = f"scaling group {text(group, 'name')}"
        pairs.append(("the set", template, called, at, group))
        pairs += [(called, group, f"clique {name}", *cliques[name]) for name in _names(group) if name in cliques]
    for outer, whole, inner, at, part in pairs:
        for wide, narrow in zip(_levels(whole), _levels(part), strict=True):
            if wide in order and narrow in order and order[narrow] < order[wide]:
                yield f"{at}.topologyConstraint", f"domain {narrow} of {inner} is wider than {wide} of {outer}"


def old_fields(workload: Workload) -> Iterator[str]:
    """Yield the paths of packDomain, which Grove takes of sets that are there already, and of no new ones."""
    for at, part in _parts(value_at(workload.body, _AT) or {}):
        if value_at(part, "topologyConstraint.packDomain") is not None:
            yield f"{_AT}{at}.topologyConstraint.packDomain"


def _parts(template: Any) -> Iterator[tuple[str, Any]]:
    """Yield what may say where its pods go: the set, its cliques, its scaling groups."""
    yield "", template
    for key in ("cliques", _GROUPS):
        yield from _listed(template, key)


def _topology_names(template: Any) -> Iterator[str]:
    found = (text(part, "topologyConstraint.topologyName") for _, part in _parts(template))
    return (each for each in found if each)


def _levels(part: Any) -> tuple[str, str]:
    """Return the domains that a part of a set requires and prefers."""
    given = value_at(part, "topologyConstraint")
    required = next((found for each in _PACKS if (found := text(given, each))), "")
    return required, text(given, "pack.preferred")


def _names(group: Any) -> Sequence[str]:
    return _texts(group, "cliqueNames")


def _texts(value: Any, path: str) -> Sequence[str]:
    found = value_at(value, path)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list | tuple) else []
