"""
Admission rules of the server's own workloads, as tables: numbers, words, selectors, how they roll out, schedules.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from dra_alloc.api import LabelSelector
from dra_alloc.api.labels import selector_of
from dra_alloc.api.names import label_faults
from dra_alloc.manifest.convert.conversion import OtherShape
from dra_alloc.manifest.documents import Workload
from dra_alloc.manifest.kinds import Kind, recognise
from dra_alloc.manifest.make.workloads import at
from dra_alloc.manifest.read.paths import Path, render
from dra_alloc.manifest.validate.metadata import NAMESPACED, STATEFUL_SET, check_labels, check_metadata
from dra_alloc.manifest.validate.parts import check_label_selector
from dra_alloc.manifest.validate.pods.changes import check_workload_change
from dra_alloc.manifest.validate.pods.placement import RESTARTS
from dra_alloc.manifest.validate.pods.pods import check_claims, check_pod_spec
from dra_alloc.manifest.validate.violations import Violations

_INT32_MAX: Final = (1 << 31) - 1
_NEGATIVE: Final = "must be greater than or equal to 0"
_SETS: Final = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
#: Numbers below the spec of a kind, and of a Job in a CronJob, that are not negative.
_NUMBERS: Final[Mapping[str, str]] = {
    "Deployment": "replicas minReadySeconds revisionHistoryLimit progressDeadlineSeconds",
    "ReplicaSet": "replicas minReadySeconds",
    "StatefulSet": "replicas minReadySeconds ordinals.start updateStrategy.rollingUpdate.partition",
    "DaemonSet": "minReadySeconds revisionHistoryLimit",
    "ReplicationController": "replicas minReadySeconds",
    "CronJob": "startingDeadlineSeconds successfulJobsHistoryLimit failedJobsHistoryLimit",
    "Job": "parallelism completions activeDeadlineSeconds backoffLimit ttlSecondsAfterFinished backoffLimitPerIndex "
    "maxFailedIndexes",
}
#: Words below the spec of a kind, and which there are.
_WORDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "CronJob": {"concurrencyPolicy": ("Allow", "Forbid", "Replace")},
    "Job": {
        "completionMode": ("NonIndexed", "Indexed"),
        "podReplacementPolicy": ("Failed", "TerminatingOrFailed"),
    },
    "StatefulSet": {
        "persistentVolumeClaimRetentionPolicy.whenDeleted": ("Retain", "Delete"),
        "persistentVolumeClaimRetentionPolicy.whenScaled": ("Retain", "Delete"),
    },
}
_NO_SELECTOR: Final = "invalid label selector"
_INDEXED_MAX: Final = 100_000
#: What a job with more indexes, each with a limit of its own, has at most of each.
_FEWER: Final = 10_000
_PER_JOB: Final = ("parallelism", "maxFailedIndexes")
_MANY: Final = f"completions are above {_INDEXED_MAX} and used with backoff limit per index"
_DEADLINE: Final = 600
_CRON_NAME_MAX: Final = 52
_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)


def check_workload(v: Violations, workload: Workload, old: Workload | None = None) -> None:
    """Check a workload: all of one that the API server has, of others the claims. Spec: VAL-102 to VAL-107."""
    kind = recognise(workload.api_version, workload.kind)
    if kind is None or not kind.template:
        for template in workload.templates:
            if template.pod is not None:
                check_claims(v, template.pod.spec, template.path)
        return
    check_metadata(v, workload.metadata, STATEFUL_SET if kind.name == "StatefulSet" else NAMESPACED)
    _Fields(v, workload.body).check(kind)
    if old is not None:
        check_workload_change(v, workload, old)
    for template in workload.templates:
        if template.pod is not None:
            path = template.path
            check_labels(v, template.pod.metadata, path.removesuffix(".spec"))
            check_pod_spec(v, template.pod.spec, path)
            _restarts(v, kind.name, template.pod.spec.restart_policy, f"{path}.restartPolicy")
            if template.pod.spec.active_deadline_seconds is not None and kind.name in _SETS:
                owner = "ReplicaSet" if kind.name == "Deployment" else kind.name
                text = f"activeDeadlineSeconds in {owner} is not Supported"
                v.forbidden(f"{path}.activeDeadlineSeconds", text)


def _restarts(v: Violations, kind: str, policy: str | None, path: str) -> None:
    """Check that pods of a job end, and others do not."""
    if kind in ("Job", "CronJob"):
        if policy in (None, "", "Always"):
            v.required(path, 'valid values: "OnFailure", "Never"')
        elif policy not in RESTARTS:
            v.unsupported(path, policy, RESTARTS[1:])
    elif policy not in (None, "", "Always"):
        v.unsupported(path, policy, RESTARTS[:1])


class _Fields:
    """The fields of one workload as they were written, by their paths."""

    def __init__(self, v: Violations, body: Mapping[str, Any]) -> None:
        self._v = v
        self._body = body

    def check(self, kind: Kind) -> None:
        """Check what a kind has beside its template."""
        self._of(kind.name, ("spec",))
        if kind.name == "CronJob":
            self._of("Job", ("spec", "jobTemplate", "spec"))
            self._schedule()
        if kind.name in _SETS:
            self._selector(kind.name)
        elif kind.name == "ReplicationController":
            self._labels_of_controller()
        for path in kind.counts:
            count = self._at(path)
            if isinstance(count, int) and count > _INT32_MAX:
                self._v.invalid(render(path), count, "does not fit into 32 bits")
        if kind.name in ("Deployment", "StatefulSet", "DaemonSet"):
            self._rolling(kind.name)

    def _at(self, path: Path) -> Any:
        try:
            return at(self._body, path)
        except (OtherShape, IndexError, KeyError, TypeError):
            return None

    def _of(self, kind: str, below: Path) -> None:
        for field in _NUMBERS.get(kind, "").split():
            path = (*below, *field.split("."))
            value = self._at(path)
            if isinstance(value, int) and value < 0:
                self._v.invalid(render(path), value, _NEGATIVE)
        for field, words in _WORDS.get(kind, {}).items():
            path = (*below, *field.split("."))
            value = self._at(path)
            if value is not None and value not in words:
                self._v.unsupported(render(path), value, words)
        if kind == "Job":
            self._job(below)
        if kind == "StatefulSet":
            self._stateful()

    def _job(self, below: Path) -> None:
        v, found = self._v, self._at(below)
        job: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
        path = render(below)
        number, indexed = job.get("completions"), job.get("completionMode") == "Indexed"
        if number is None and job.get("parallelism") is None and len(below) == 1:
            number = 1  # A default of Jobs, which what a CronJob holds does not get.
        if indexed:
            self._indexed(job, number, path)
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if job.get(field) is not None and job.get("completionMode") in (None, "NonIndexed"):
                v.invalid(f"{path}.{field}", job[field], "requires indexed completion mode")
        if job.get("maxFailedIndexes") is not None and job.get("backoffLimitPerIndex") is None:
            v.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
        if indexed and len(below) == 1 and isinstance(number, int) and number > 0:
            self._name_of_pods(f"{self._at(('metadata', 'name'))}-{number - 1}")
        self._job_selector(job, below)

    def _name_of_pods(self, name: str) -> None:
        if label_faults(name):
            text = f"will not able to create pod with invalid DNS label: {name}"
            self._v.invalid("metadata.name", self._at(("metadata", "name")), text)

    def _indexed(self, job: Mapping[str, Any], number: Any, path: str) -> None:
        """Check the numbers of a job with indexes, of which many are for jobs that may fail one by one."""
        v, counted = self._v, isinstance(number, int)
        width, failed = (each if isinstance(each := job.get(name), int) else 0 for name in _PER_JOB)
        many = counted and number > _INDEXED_MAX and job.get("backoffLimitPerIndex") is not None
        if number is None:
            v.required(f"{path}.completions", "when completion mode is Indexed")
        if width > _INDEXED_MAX:
            text = f"must be less than or equal to {_INDEXED_MAX} when completion mode is Indexed"
            v.invalid(f"{path}.parallelism", width, text)
        if counted and failed > number and job.get("maxFailedIndexes") is not None:
            v.invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
        if failed > _INDEXED_MAX:
            v.invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_INDEXED_MAX}")
        if many and job.get("maxFailedIndexes") is None:
            v.required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_INDEXED_MAX}")
        for name, amount in zip(_PER_JOB, (width, failed), strict=True):
            if many and amount > _FEWER:
                v.invalid(f"{path}.{name}", amount, f"must be less than or equal to {_FEWER} when {_MANY}")

    def _job_selector(self, job: Mapping[str, Any], below: Path) -> None:
        selector, path = job.get("selector"), f"{render(below)}.selector"
        if len(below) > 1:
            if selector is not None:
                self._v.invalid(path, selector, "`selector` will be auto-generated")
            if job.get("manualSelector"):
                self._v.unsupported(f"{render(below)}.manualSelector", True, ("nil", "false"))
        elif not job.get("manualSelector"):
            if selector is not None and not self._at(("metadata", "uid")):
                self._v.invalid(path, selector, "`selector` not auto-generated")
        else:
            if selector is None:
                self._v.required(path)
            self._matching("Job", selector, below)

    def _stateful(self) -> None:
        policy, service = self._at(("spec", "podManagementPolicy")), self._at(("spec", "serviceName"))
        if policy is not None and policy not in ("OrderedReady", "Parallel"):
            self._v.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
        if isinstance(service, str) and service:
            self._v.names("spec.serviceName", label_faults(service))

    def _selector(self, kind: str) -> None:
        selector = self._at(("spec", "selector"))
        if selector is None:
            self._v.required("spec.selector")
        elif isinstance(selector, Mapping) and not any(selector.values()):
            empty = "deployment" if kind == "ReplicaSet" else kind.lower()
            self._v.invalid("spec.selector", selector, f"empty selector is invalid for {empty}")
            return
        self._matching(kind, selector, ("spec",))

    def _matching(self, kind: str, selector: Any, below: Path) -> None:
        """Check a selector, and that it selects the pods of the template; none selects nothing."""
        path = f"{render(below)}.selector"
        read = self._read(selector, selector, path) if selector is not None else None
        if read is not None:
            before = len(self._v.found)
            check_label_selector(self._v, read, path)
            if len(self._v.found) > before:
                if kind != "DaemonSet":
                    self._v.invalid(path, selector, "" if kind == "StatefulSet" else _NO_SELECTOR)
                return
        if read is not None or selector is None:
            self._selecting(read, below)

    def _labels_of_controller(self) -> None:
        selector = self._at(("spec", "selector")) or self._at(("spec", "template", "metadata", "labels"))
        if not selector:
            self._v.required("spec.selector")
        if self._at(("spec", "template")) is None:
            self._v.required("spec.template")
        elif selector:
            read = self._read({"matchLabels": selector}, selector, "spec.selector")
            if read is not None:
                self._selecting(read, ("spec",))

    def _read(self, selector: Any, written: Any, path: str) -> LabelSelector | None:
        """Return a selector, or note that what was written has another shape."""
        try:
            return LabelSelector.from_wire(selector)
        except (ValidationError, ValueError, TypeError):
            self._v.invalid(path, written, _NO_SELECTOR)
            return None

    def _selecting(self, selector: LabelSelector | None, below: Path) -> None:
        """Check that a selector selects the pods of the template."""
        labels = self._at((*below, "template", "metadata", "labels"))
        if not selector_of(selector).matches(labels or {}):
            path = f"{render(below)}.template.metadata.labels"
            self._v.invalid(path, labels, "`selector` does not match template `labels`")

    def _rolling(self, kind: str) -> None:
        v = self._v
        field = "strategy" if kind == "Deployment" else "updateStrategy"
        path, style = f"spec.{field}", self._at(("spec", field, "type")) or "RollingUpdate"
        rolling = self._at(("spec", field, "rollingUpdate"))
        others = ("Recreate", "RollingUpdate") if kind == "Deployment" else ("RollingUpdate", "OnDelete")
        if style not in others:
            steps = None
            if isinstance(rolling, Mapping):
                steps = OrderedDict(
                    MaxUnavailable=rolling.get("maxUnavailable", 0), MaxSurge=rolling.get("maxSurge", 0)
                )
            shown = OrderedDict(Type=style, RollingUpdate=steps)
            if kind == "StatefulSet":
                v.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")
            else:
                v.unsupported(path, shown, others)
        elif style == "Recreate" and rolling is not None:
            v.forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
        elif style == "RollingUpdate" and isinstance(rolling, Mapping):
            self._steps(kind, rolling, f"{path}.rollingUpdate")
        deadline, ready = self._at(("spec", "progressDeadlineSeconds")), self._at(("spec", "minReadySeconds")) or 0
        deadline = _DEADLINE if deadline is None else deadline
        if kind == "Deployment" and isinstance(deadline, int) and isinstance(ready, int) and deadline <= ready:
            v.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")

    def _steps(self, kind: str, rolling: Mapping[str, Any], path: str) -> None:
        """Check how many pods may be missing, and how many more there may be, during an update."""
        v = self._v
        down = rolling.get("maxUnavailable", "25%" if kind == "Deployment" else 1)
        up = rolling.get("maxSurge", "25%" if kind == "Deployment" else 0)
        place = f"{path}.maxUnavailable"
        wrong = [(f"{path}.maxUnavailable", down, list(_share_faults(down)))]
        if kind != "StatefulSet":
            wrong.append((f"{path}.maxSurge", up, list(_share_faults(up, most=kind == "DaemonSet"))))
        for where, value, faults in wrong:
            v.invalid(where, value, faults)
        if kind == "StatefulSet":
            if _is_none(down):
                v.invalid(place, down, "cannot be 0")
        elif _is_none(down) and _is_none(up):
            if kind == "Deployment":
                v.invalid(place, down, "may not be 0 when `maxSurge` is 0")
            else:
                v.required(place, "cannot be 0 when maxSurge is 0")
        elif kind == "DaemonSet" and not _is_none(down) and not _is_none(up):
            v.invalid(f"{path}.maxSurge", up, "may not be set when maxUnavailable is non-zero")

    def _schedule(self) -> None:
        v, schedule = self._v, self._at(("spec", "schedule"))
        if not schedule:
            v.required("spec.schedule")
        elif isinstance(schedule, str):
            text = _schedule_fault(schedule)
            if text:
                v.invalid("spec.schedule", schedule, text)
        name = self._at(("metadata", "name"))
        if isinstance(name, str) and len(name) > _CRON_NAME_MAX:
            v.invalid("metadata.name", name, f"must be no more than {_CRON_NAME_MAX} characters")


def _share_faults(value: Any, *, most: bool = True) -> Iterator[str]:
    if isinstance(value, int):
        if value < 0:
            yield _NEGATIVE
    elif not re.fullmatch("[0-9]+%", str(value)):
        yield _PERCENT
    elif most and int(str(value)[:-1]) > 100:
        yield "must not be greater than 100%"


def _is_none(value: Any) -> bool:
    """Say whether a number or share is none of the pods, as one is that is neither."""
    text = str(value)
    number = re.fullmatch("([0-9]+)%|([+-]?[0-9]+)", text)
    return number is None or int(text.rstrip("%")) == 0


def _schedule_fault(text: str) -> str:
    """Return what is wrong with the form of a schedule; of its numbers only the form is looked at."""
    if "TZ" in text:
        return "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
    if text.startswith("@"):
        known = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
        return "" if text in known or text.startswith("@every ") else f"unrecognized descriptor: {text}"
    fields = text.split()
    return "" if len(fields) == 5 else f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
