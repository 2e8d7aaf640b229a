"""
The question behind `dra-alloc admit`: who is admitted, and which of these find a place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dra_alloc.errors import InputError, Problem
from dra_alloc.manifest import Documents
from dra_alloc.queues.systems import QUEUE_SYSTEMS, QueueSystem, queue_system
from dra_alloc.scenario.admit.answers import DEFAULT_ADMIT, Admit, AdmitOptions
from dra_alloc.scenario.admit.asking import AdmitQuestion
from dra_alloc.scenario.admit.kai import admit_kai
from dra_alloc.scenario.admit.kueue import admit_kueue
from dra_alloc.scenario.admit.volcano import admit_volcano

_ANSWERS: Final[Mapping[str, Callable[[AdmitQuestion], Admit]]] = {
    "kueue": admit_kueue,
    "kai": admit_kai,
    "volcano": admit_volcano,
}


def admit(manifests: Documents, dump: Documents, options: AdmitOptions = DEFAULT_ADMIT) -> Admit:
    """
    Return who of the manifests' workloads is admitted as the dump's queues are, and where the admitted are placed.

    The system is the one whose objects are there.

    Spec: QUEUE-2. Raises: ManifestError with everything that is wrong; InputError for settings, without queues, and
    with those of several systems.
    """
    named = queue_system(options.system) if options.system else None
    there = [each for each in QUEUE_SYSTEMS.values() if each.name in _ANSWERS and _has(each, manifests, dump)]
    system = named or (there[0] if len(there) == 1 else None)
    if system is None and there:
        names = ", ".join(f"{each.name} ({_first_of(each, manifests, dump)})" for each in there)
        raise InputError(f"there are objects of several queue systems: {names}", hint="say which, by --system NAME")
    if system is None or not (named is None or _has(system, manifests, dump)):
        told = [QUEUE_SYSTEMS[each].needs for each in ((named.name,) if named is not None else _ANSWERS)]
        title = named.title if named is not None else "a queue system"
        raise InputError(f"there are no objects of {title}", hint=f"among the files have to be {'; or '.join(told)}")
    return _ANSWERS[system.name](AdmitQuestion(manifests, dump, options, system.under(options.settings.semantics)))


def _has(system: QueueSystem, *documents: Documents) -> bool:
    return any(each.group in system.groups for given in documents for each in given.queueing)


def _first_of(system: QueueSystem, *documents: Documents) -> str:
    """Return the first object of a system, with where it was read."""
    given = ((each, found) for each in documents for found in each.queueing if found.group in system.groups)
    read, found = next(given)
    return str(next(iter(read.placed([(found, Problem(""))]))).where)
