"""
What the API server adds to a pod as it is made: overhead and places of its runtime class, value of its priority class.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.api import FrozenMap, Pod, PriorityClass, RuntimeClass
from dra_alloc.errors import Problem, Where, first_few
from dra_alloc.manifest import Documents, validate_object

#: Priority classes that every cluster has, with their values.
BUILT_IN: Final = {f"system-{each}-critical": 2_000_000_000 + more for each, more in (("cluster", 0), ("node", 1000))}
#: What is so of a class that may be nowhere.
WITHOUT_CLASS: Final = "and without it the API server refuses the pod"
VOLUMES: Final = "volumes are not looked at: they may leave fewer nodes, or none where one is not there or not bound"
_PREEMPTS: Final = "PreemptLowerPriority"


@dataclass(frozen=True, slots=True)
class PodClasses:
    """
    The runtime and priority classes of the input, and its service accounts by namespace.

    Where it has none of a kind, which there are is not known: what a pod names is then left as it is, with a note.
    Of a namespace accounts are known where the dump has some, as it has at least `default`.
    """

    runtime: Mapping[str, RuntimeClass] = field(default_factory=FrozenMap)
    priority: Mapping[str, PriorityClass] = field(default_factory=FrozenMap)
    accounts: Mapping[str, frozenset[str]] = field(default_factory=FrozenMap)

    @classmethod
    def of(cls, dump: Documents, manifests: Documents) -> PodClasses:
        """Return the classes of the dump and then of the manifests."""
        documents = (dump, manifests)
        return cls(
            {each.metadata.name or "": each for found in documents for each in found.runtime_classes},
            {each.metadata.name or "": each for found in documents for each in found.priority_classes},
            _accounts(dump, manifests),
        )

    def admitted(self, pod: Pod) -> Pod:
        """
        Return a new pod as it is stored.

        Spec: EXPAND-53, EXPAND-54.
        """
        changes = {**self._of_runtime(pod), **self._of_priority(pod)}
        return pod.replaced(spec=pod.spec.replaced(**changes)) if changes else pod

    def _of_runtime(self, pod: Pod) -> Mapping[str, object]:
        spec = pod.spec
        found = self.runtime.get(spec.runtime_class_name or "")
        if found is None:
            return {}
        changes: dict[str, object] = {}
        if found.overhead is not None and found.overhead.pod_fixed:
            changes["overhead"] = found.overhead.pod_fixed
        if found.scheduling is not None:
            changes["node_selector"] = FrozenMap({**spec.node_selector, **found.scheduling.node_selector})
            changes["tolerations"] = (*spec.tolerations, *found.scheduling.tolerations)
        return changes

    def _of_priority(self, pod: Pod) -> Mapping[str, object]:
        spec = pod.spec
        found = priority_class(self.priority, spec.priority_class_name)
        if found is None:
            return {}
        policy = spec.preemption_policy or found.preemption_policy
        return {"priority": found.value, "preemption_policy": policy}

    def problems(self, pod: Pod, path: str) -> Iterator[Problem]:
        """
        Yield what lets the API server refuse the pod: a class that is not there, or other values than its class has.

        Spec: EXPAND-55, EXPAND-61, EXPAND-70.
        """
        spec = pod.spec
        runtime, priority = spec.runtime_class_name or "", spec.priority_class_name or ""
        account = spec.service_account_name or spec.service_account or "default"
        accounts = self.accounts.get(pod.metadata.namespace or "")
        if accounts is not None and account not in accounts:
            yield _missing("ServiceAccount", account, accounts, f"{path}.serviceAccountName")
        if runtime and self.runtime and runtime not in self.runtime:
            yield _missing("RuntimeClass", runtime, self.runtime, f"{path}.runtimeClassName")
        if priority and self.priority and priority not in (*self.priority, *BUILT_IN):
            yield _missing("PriorityClass", priority, self.priority, f"{path}.priorityClassName")
            return
        computed = self._computed(priority)
        if computed is None:
            return
        for name, what, given, value in (
            ("priority", "integer value of priority", spec.priority, computed[0]),
            ("preemptionPolicy", "string value of PreemptionPolicy", spec.preemption_policy, computed[1]),
        ):
            if given is not None and given != value:
                text = (
                    f"the {what} ({given}) must not be provided in pod spec; priority admission controller computed "
                    f"{value} from the given PriorityClass name"
                )
                yield Problem(text, Where(path=f"{path}.{name}"), "leave it out: it is filled in")

    def _computed(self, name: str) -> tuple[int, str] | None:
        """Return priority and preemption policy of a pod's class, None if that is not known."""
        found = priority_class(self.priority, name)
        if found is not None:
            return found.value, found.preemption_policy or _PREEMPTS
        if name:
            return (BUILT_IN[name], _PREEMPTS) if name in BUILT_IN else None
        return (0, _PREEMPTS) if self.priority else None

    def notes(self, pod: Pod) -> Iterator[str]:
        """Yield what is not known of the pod's classes."""
        runtime = pod.spec.runtime_class_name
        if runtime and not self.runtime and not pod.spec.overhead:
            yield f"RuntimeClass {runtime} is not among the files: its overhead is taken as none, {WITHOUT_CLASS}"


def _accounts(dump: Documents, manifests: Documents) -> Mapping[str, frozenset[str]]:
    found = {each.metadata.namespace or "": {"default"} for each in dump.service_accounts}
    for each in (*dump.service_accounts, *manifests.service_accounts):
        found.get(each.metadata.namespace or "", set()).add(each.metadata.name or "")
    return {namespace: frozenset(names) for namespace, names in found.items()}


def problems_of_made(pod: Pod, path: str) -> Iterator[Problem]:
    """
    Yield why the API server refuses a pod that a controller makes, while it stored the template.

    Spec: EXPAND-59, EXPAND-62.
    """
    if not pod.spec.host_network and pod.spec.resources is None:
        return
    for each in validate_object(pod):
        place = each.where.path
        if place.endswith(".hostPort"):
            hint = "hostNetwork takes every containerPort of the node"
        elif place.startswith("spec.resources"):
            hint = "of a pod the API server fills in amounts that a template leaves out"
        else:
            continue
        yield Problem(each.message, Where(path=path + place.removeprefix("spec")), hint)


def priority_class(classes: Mapping[str, PriorityClass], name: str | None) -> PriorityClass | None:
    """Return the class of that name, without a name the one that is the default of all; None if there is none."""
    if name:
        return classes.get(name)
    return next((each for each in classes.values() if each.global_default), None)


def _missing(kind: str, name: str, known: Collection[str], path: str) -> Problem:
    return Problem(f"{kind} {name} does not exist", Where(path=path), f"there are: {first_few(sorted(known))}")
