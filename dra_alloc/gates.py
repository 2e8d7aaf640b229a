"""
Feature gates as data: since when each has which stage, and what follows for its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from dra_alloc.errors import InputError, did_you_mean, in_brief
from dra_alloc.releases import Release, parse_release, start_of


class Maturity(Enum):
    """
    How far a gate has come; one that is off by default in beta depends on an API that is.

    One that is locked is on, and a component that is told to switch it off does not start.
    """

    ALPHA = "alpha"
    BETA_OFF = "beta, off"
    BETA = "beta"
    STABLE = "stable"
    LOCKED = "stable, locked"
    GONE = "no more"


_ALPHA: Final = Maturity.ALPHA
_BETA: Final = Maturity.BETA
_STABLE: Final = Maturity.STABLE
_LOCKED: Final = Maturity.LOCKED

#: Gate -> the releases with which its stage changed, oldest first; the last one holds from there on.
GATES: Final[Mapping[str, Mapping[str, Maturity]]] = {
    "CompositePodGroup": {"1.37": _ALPHA, "1.38": Maturity.BETA_OFF},
    "DRAAdminAccess": {"1.32": _ALPHA, "1.34": _BETA, "1.36": _LOCKED},
    "DRAConsumableCapacity": {"1.34": _ALPHA, "1.36": _BETA, "1.38": _STABLE},
    "DRADerivedAttributes": {"1.37": _ALPHA},
    "DRADeviceBindingConditions": {"1.34": _ALPHA, "1.36": _BETA, "1.38": _LOCKED},
    "DRADeviceCompatibilityGroups": {"1.37": _ALPHA},
    "DRADeviceTaintRules": {"1.35": _ALPHA, "1.36": Maturity.BETA_OFF, "1.37": _STABLE, "1.38": _LOCKED},
    "DRADeviceTaints": {"1.33": _ALPHA, "1.36": _BETA, "1.37": _STABLE, "1.38": _LOCKED},
    "DRAExtendedResource": {"1.34": _ALPHA, "1.36": _BETA, "1.37": _LOCKED},
    "DRAFractionalCapacityRange": {"1.37": Maturity.BETA_OFF, "1.38": _STABLE},
    "DRAListTypeAttributes": {"1.36": _ALPHA},
    "DRANodeAllocatableResources": {"1.36": _ALPHA},
    "DRAOptionalNodeOperations": {"1.37": _ALPHA},
    "DRAPartitionableDevices": {"1.33": _ALPHA, "1.36": _BETA, "1.38": _LOCKED},
    "DRAPartitionableDevicesType": {"1.37": _ALPHA},
    "DRAPrioritizedList": {"1.33": _ALPHA, "1.34": _BETA, "1.36": _STABLE, "1.37": _LOCKED},
    "DRAResourceClaimDeviceStatus": {"1.32": _ALPHA, "1.33": _BETA, "1.37": _LOCKED},
    "DRAResourceClaimGranularStatusAuthorization": {"1.36": _BETA},
    "DRAResourcePoolStatus": {"1.36": _ALPHA},
    "DRASchedulerFilterTimeout": {"1.34": _BETA},
    "DRAWorkloadResourceClaims": {"1.36": _ALPHA, "1.37": Maturity.BETA_OFF},
    "GangScheduling": {"1.35": _ALPHA, "1.37": Maturity.GONE},
    "GenericWorkload": {"1.35": _ALPHA, "1.37": Maturity.BETA_OFF},
    "TopologyAwareWorkloadScheduling": {"1.36": _ALPHA, "1.38": Maturity.BETA_OFF},
}

#: Gates that stand for every gate of some stages which is not set by itself.
GROUPS: Final[Mapping[str, frozenset[Maturity]]] = {
    "AllAlpha": frozenset({Maturity.ALPHA}),
    "AllBeta": frozenset({Maturity.BETA, Maturity.BETA_OFF}),
}

#: Gates of what is not modelled here: authorization, status and time limits; or not before a release.
_UNMODELLED: Final[Mapping[str, str]] = {
    "DRANodeAllocatableResources": "1.37",
    "DRAResourceClaimGranularStatusAuthorization": "",
    "DRAResourcePoolStatus": "",
    "DRASchedulerFilterTimeout": "",
}


_MANAGER: Final = "kube-controller-manager"
#: Who reads a gate besides kube-apiserver and kube-scheduler, which read all, in the sources of 1.35 to 1.37.
_READ_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "DRAAdminAccess": (_MANAGER,),
    "DRADeviceTaintRules": (_MANAGER,),
    "DRADeviceTaints": (_MANAGER,),
    "DRAExtendedResource": ("kubelet",),
    "DRANodeAllocatableResources": ("kubelet",),
    "DRAOptionalNodeOperations": ("kubelet",),
    "DRAPrioritizedList": (_MANAGER,),
    "DRAWorkloadResourceClaims": (_MANAGER, "kubelet"),
}


def readers_of(gates: Iterable[str]) -> tuple[str, ...]:
    """Return the components that have to be told of the gates."""
    more = sorted({each for gate in gates for each in _READ_BY.get(gate, ())})
    return "kube-apiserver", "kube-scheduler", *more


def gates_of(release: str | Release, overrides: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """
    Return every DRA gate of the release with its value; AllAlpha and AllBeta reach the gates not set by themselves.

    Spec: PROFILE-6.
    Raises: InputError for a gate that the release does not know, or has locked.
    """
    parsed = parse_release(release)
    stages = _stages(parsed)
    chosen = overrides or {}
    for name in chosen:
        if name not in stages and name not in GROUPS:
            known = (*sorted(stages), *GROUPS)
            hint = f"{did_you_mean(name, known)} known gates: {', '.join(known)}".lstrip()
            raise InputError(f"release {parsed} has no feature gate {in_brief(name)!r}", hint=hint)
    for name, on in chosen.items():
        if stages.get(name) is Maturity.LOCKED and not on:
            said = f"cannot set feature gate {name} to false, feature is locked to true"
            raise InputError(said, hint=f"release {parsed} does not let it be switched off")
    grouped = {stage: chosen[group] for group, those in GROUPS.items() if group in chosen for stage in those}
    default = {stage: stage in (Maturity.BETA, Maturity.STABLE, Maturity.LOCKED) for stage in Maturity} | grouped
    return {name: chosen.get(name, default[stage]) for name, stage in stages.items()}


def without_effect(names: Mapping[str, bool], release: str | Release) -> tuple[str, ...]:
    """Return those of the gates set that are known and change no answer of the release here, sorted."""
    parsed = parse_release(release)
    return tuple(
        name
        for name in sorted(_UNMODELLED.keys() & names)
        if not (since := _UNMODELLED[name]) or parsed < start_of(since)
    )


@lru_cache(maxsize=64)
def _stages(release: Release) -> Mapping[str, Maturity]:
    """Return the gates that a release has, each with its stage."""
    found = {name: stage for name, row in GATES.items() if (stage := _stage(row, release)) is not None}
    return MappingProxyType(found)


def _stage(row: Mapping[str, Maturity], release: Release) -> Maturity | None:
    found = next((stage for since, stage in reversed(tuple(row.items())) if release >= start_of(since)), None)
    return None if found is Maturity.GONE else found
