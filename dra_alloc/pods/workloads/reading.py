"""
Numbers, texts and pod templates out of a workload as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from dra_alloc.api import Pod, PodSpec, Quantity, QuantityError
from dra_alloc.manifest import Workload
from dra_alloc.manifest.make.inspection import in_words
from dra_alloc.manifest.read.paths import tokens
from dra_alloc.pods.workloads.plans import Controller, Misfit, PodSet

#: How many pods of one workload are tried.
_MOST: Final = 10_000
#: What kinds call the end of their objects, in conditions and states.
_ENDS: Final = ("Complete", "Completed", "Failed", "FailureTarget", "SuccessCriteriaMet", "Succeeded")
#: What may be stored as if it were absent.
_EMPTY: Final[tuple[Any, ...]] = ("", (), {}, [], False)


def value_at(value: Any, path: str) -> Any:
    """Return what stands at a path such as ``spec.tasks[0].replicas``, None where nothing does."""
    for step in tokens(path):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def thawed(value: Any) -> Any:
    """Return a part of a workload as dictionaries and lists that can be changed."""
    if isinstance(value, Mapping):
        return {key: thawed(member) for key, member in value.items()}
    return [thawed(member) for member in value] if isinstance(value, list | tuple) else value


def number(workload: Workload, path: str, default: int) -> int:
    """Return a whole number that is not negative. Raises: Misfit."""
    return number_in(workload.body, path, default)


def number_in(value: Any, path: str, default: int, at: str = "") -> int:
    """Return a whole number that is not negative, from a part of a workload that stands `at`. Raises: Misfit."""
    found = value_at(value, path)
    if found is None:
        return default
    where = f"{at}.{path}" if at else path
    if type(found) is not int:
        raise Misfit(where, f"expected a whole number, got {in_words(found)}")
    if found < 0:
        raise Misfit(where, f"Invalid value: {found}: must be greater than or equal to 0")
    return found


def copies(value: Any, path: str, default: int, at: str = "") -> int:
    """Return a number of pods, or of groups of them, that are made one by one. Raises: Misfit, for too many."""
    return bounded(number_in(value, path, default, at), f"{at}.{path}" if at else path)


def bounded(count: int, path: str, what: str = "pods") -> int:
    """Return a number of pods, or of what they are in. Raises: Misfit, if it is larger than is tried."""
    if count > _MOST:
        raise Misfit(path, f"asks for {count:,} {what} at once, more than the {_MOST:,} that are tried")
    return count


def together(sets: Iterable[PodSet]) -> tuple[PodSet, ...]:
    """Return the sets of pods. Raises: Misfit, if they are more pods than are tried."""
    found: list[PodSet] = []
    total = 0
    for each in sets:
        total = bounded(total + each.count, each.path)
        found.append(each)
    return tuple(found)


def text(value: Any, path: str, default: str = "") -> str:
    """Return a text; anything else is as if it were not there."""
    found = value_at(value, path)
    return found if isinstance(found, str) and found else default


def flag(value: Any, path: str, default: bool = False) -> bool:
    """Return a boolean; anything else is as if it were not there."""
    found = value_at(value, path)
    return found if isinstance(found, bool) else default


def items(value: Any, path: str) -> tuple[Any, ...]:
    """Return the objects in a list, none if there is no list."""
    found = value_at(value, path)
    return tuple(each if isinstance(each, Mapping) else {} for each in found) if isinstance(found, list | tuple) else ()


def template_at(workload: Workload, path: str) -> Mapping[str, Any]:
    """Return the metadata and spec of a pod template. Raises: Misfit."""
    return template_in(workload.body, path)


def template_in(value: Any, path: str, at: str = "") -> Mapping[str, Any]:
    """Return the metadata and spec of a pod template in a part of a workload that stands `at`. Raises: Misfit."""
    found = value_at(value, path)
    where = f"{at}.{path}" if at else path
    if not isinstance(found, Mapping):
        said = "there is no pod template" if found is None else f"expected a pod template, got {in_words(found)}"
        raise Misfit(where, said)
    metadata, spec = found.get("metadata") or {}, found.get("spec") or {}
    if not isinstance(metadata, Mapping) or not isinstance(spec, Mapping):
        raise Misfit(where, "the pod template's metadata and spec have to be objects")
    for each in ("labels", "annotations"):
        marks_in(metadata, each, f"{where}.metadata")
    return {"metadata": metadata, "spec": spec}


def spec_read(workload: Workload, path: str, spec: Mapping[str, Any]) -> PodSpec:
    """Return the spec of a template; what stands at the path as it was written was read already."""
    read = next((each.pod for each in workload.templates if each.path == path), None)
    return read.spec if read is not None and value_at(workload.body, path) is spec else PodSpec.from_wire(spec)


def has_ended(status: Any) -> bool:
    """Return whether a status says that its object is over, as any of the kinds says it."""
    said = [each.get("type") for each in items(status, "conditions") if each.get("status") == "True"]
    return any(each in _ENDS for each in (*said, text(status, "jobDeploymentStatus")))


def marks_in(value: Any, path: str, at: str) -> Mapping[str, str]:
    """Return labels or annotations in a part of a workload that stands `at`. Raises: Misfit, if they are no texts."""
    found = value_at(value, path)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Misfit(f"{at}.{path}", f"expected an object, got {in_words(found)}")
    for key, each in found.items():
        if not isinstance(each, str | None):
            raise Misfit(f"{at}.{path}[{key}]", f"expected a string, got {in_words(each)}")
    return found


def labelled(
    template: Mapping[str, Any], labels: Mapping[str, str], annotations: Mapping[str, str] | None = None
) -> Mapping[str, Any]:
    """Return a template with more labels and annotations."""
    metadata = dict(template["metadata"])
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    if annotations:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    return {**template, "metadata": metadata}


def with_spec(template: Mapping[str, Any], **members: Any) -> Mapping[str, Any]:
    """Return a template with some members of its spec replaced."""
    return {**template, "spec": {**template["spec"], **members}}


def using(template: Mapping[str, Any], claims: Iterable[str]) -> Mapping[str, Any]:
    """Return a template with claims that have names, used by every container; each is called as the claim is."""
    names = list(claims)
    if not names:
        return template
    spec = template["spec"]
    members: dict[str, Any] = {
        "resourceClaims": [*(spec.get("resourceClaims") or ()), *({"name": n, "resourceClaimName": n} for n in names)]
    }
    for key in ("initContainers", "containers"):
        if spec.get(key):
            members[key] = [_claiming(each, names) for each in spec[key]]
    return with_spec(template, **members)


def _claiming(container: Mapping[str, Any], names: list[str]) -> Mapping[str, Any]:
    resources = container.get("resources") or {}
    claims = [*(resources.get("claims") or ()), *({"name": name} for name in names)]
    return {**container, "resources": {**resources, "claims": claims}}


def controller_of(workload: Workload) -> Controller:
    """Return a workload as the owner of its pods."""
    return Controller(workload.api_version, workload.kind, workload.name, workload.metadata.uid or "")


def covers(given: Any, stored: Any) -> bool:
    """
    Say whether what is stored is what was given with defaults filled in.

    What is absent or null may be stored as anything, what is empty as nothing; amounts are compared as amounts.
    """
    if given is None or given == stored or (given in _EMPTY and stored in (None, *_EMPTY)):
        return True
    if isinstance(given, Mapping) and isinstance(stored, Mapping):
        return all(covers(member, stored.get(key)) for key, member in given.items())
    if isinstance(given, list | tuple) and isinstance(stored, list | tuple):
        return len(given) == len(stored) and all(map(covers, given, stored))
    return _same_amount(given, stored)


def _same_amount(one: Any, other: Any) -> bool:
    try:
        return Quantity.from_wire(one) == Quantity.from_wire(other)
    except QuantityError:
        return False


def with_labels(pods: Iterable[Pod], labels: Mapping[str, str]) -> tuple[Pod, ...]:
    """Return the pods that carry these labels."""
    return tuple(pod for pod in pods if labels.items() <= pod.metadata.labels.items())
