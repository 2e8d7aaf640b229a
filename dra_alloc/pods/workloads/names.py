"""
Names as controllers and the API server make them, with a stable stand-in for what they draw at random.

A random suffix has five characters out of an alphabet without 0, 1 and
vowels, so the numbers that stand for it here, `00000`, `00001`, ..., are no
suffix that a cluster ever drew; the same goes for the ten zeros that stand
for the hash of a pod template.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count
from typing import Final, NamedTuple

#: What is left of a generateName when five characters are added; the whole is at most 63.
_BASE: Final = 58
_SUFFIX: Final = 5
#: A base of a claim that is longer is put together anew, from the same share of both names.
_CLAIM_BASE: Final = 57
_RAY_PREFIX: Final = 50
_SUBDOMAIN: Final = 253
#: Stands for the hash of a pod template.
TEMPLATE_HASH: Final = "0" * 10
#: Stands for the minute a CronJob runs, as it is in the name of its Job.
RUN: Final = "0" * 8
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


class GangNames(NamedTuple):
    """Names of the Workload that is made for a Job, of its one template, and of the PodGroup of that."""

    workload: str
    template: str
    pod_group: str


def cut(base: str) -> str:
    """Return what the API server keeps of a generateName. Spec: EXPAND-1."""
    return base[:_BASE]


def drawn(base: str, number: int) -> str:
    """Return a generated name, with a number for what is drawn at random. Spec: EXPAND-1."""
    return f"{cut(base)}{number:0{_SUFFIX}}"


def unique(base: str, taken: Collection[str]) -> Iterator[str]:
    """Yield generated names that are not taken. Spec: EXPAND-1."""
    return (name for number in count() if (name := drawn(base, number)) not in taken)


def claim_base(pod: str, claim: str) -> str:
    """
    Return the generateName of the claim that is made for a pod's entry.

    One that is too long is cut in both names by the same share, and has no
    hyphen at its end.

    Spec: EXPAND-2.
    """
    base = f"{pod}-{claim}-"
    length = len(base)
    if length <= _CLAIM_BASE:
        return base
    return f"{pod[: len(pod) * _CLAIM_BASE // length]}-{claim[: len(claim) * _CLAIM_BASE // length]}"


def indexed_base(job: str, index: int) -> str:
    """Return the generateName of a pod of an indexed Job: the Job's name is cut, the index stays. Spec: EXPAND-3."""
    end = f"-{index}-"
    return f"{job[: _BASE - len(end)]}{end}"


def ray_base(cluster: str, group: str = "") -> str:
    """Return the generateName of a Ray cluster's head, or of the workers of a group. Spec: EXPAND-4."""
    prefix, kind = (f"{cluster}-{group}", "worker") if group else (cluster, "head")
    return f"{prefix[:_RAY_PREFIX]}-{kind}-".lower()


def job_gang_names(job: str, uid: str) -> GangNames:
    """Return what the Job controller of 1.37 calls the Workload and PodGroup of a Job. Spec: EXPAND-5."""
    marked = _safe_hash(f"(types.UID){uid}")
    workload = f"{job[: _SUBDOMAIN - len(marked) - 1]}-{marked}"
    template = f"{job}-pgt-0"
    mark = _safe_hash(workload + template)
    room = _SUBDOMAIN - len(mark) - 2
    first, second = workload, template
    if len(first) + len(second) > room:
        half = room // 2
        if len(first) <= half:
            second = second[: room - len(first)]
        elif len(second) <= half:
            first = first[: room - len(second)]
        else:
            first, second = first[: room - half], second[:half]
    return GangNames(workload, template, f"{first}-{second}-{mark}")


def _safe_hash(text: str) -> str:
    """Return FNV-1a of 32 bits in decimal, its characters replaced by letters that make no words."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(value))
