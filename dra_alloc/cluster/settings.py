"""
Which kube-scheduler is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from dra_alloc.api import FrozenMap
from dra_alloc.errors import InputError
from dra_alloc.gates import gates_of, without_effect
from dra_alloc.profiles import Profile, profile_for
from dra_alloc.releases import DEFAULT_RELEASE, note_on


@dataclass(frozen=True, slots=True)
class Settings:
    """
    A release with its gates, allocator channel and semantics.

    `gates` overrides the release's defaults, and is copied.

    Raises: InputError for gates that are no map to True or False; on first use, for what the release does not know.
    """

    release: str = DEFAULT_RELEASE
    gates: Mapping[str, bool] = field(default_factory=FrozenMap)
    channel: str = "auto"
    semantics: str = "upstream"

    def __post_init__(self) -> None:
        gates: Any = self.gates
        if not isinstance(gates, Mapping):
            said = f"gates takes a map of feature gates to True or False, not a {type(gates).__name__}"
            raise InputError(said)
        for name, value in gates.items():
            if not isinstance(value, bool):
                raise InputError(f"gate {name!r} takes True or False, not {value!r:.60}")
        object.__setattr__(self, "gates", FrozenMap(gates))

    def changed(self, release: str | None, gates: Mapping[str, bool]) -> Settings:
        """Return those of another release, or with other gates; gates that were set before stay. Spec: EDIT-1."""
        return replace(self, release=release or self.release, gates={**self.gates, **gates})

    def effective_gates(self) -> Mapping[str, bool]:
        """Return every DRA gate with its value."""
        return _effective(self.release, self.gates) if self._named() else gates_of(self.release, self.gates)

    def notes(self) -> tuple[str, ...]:
        """Return what an answer has to say of them: the release that answered, and gates that change nothing here."""
        note = note_on(self.release)
        idle = (f"gate {name} is known and has no effect here" for name in without_effect(self.gates, self.release))
        return (*((note,) if note else ()), *idle)

    def merges_taint_rules(self) -> bool:
        """Return whether DeviceTaintRules have an effect; before 1.35 they had no gate of their own."""
        gates = self.effective_gates()
        return gates["DRADeviceTaints"] and gates.get("DRADeviceTaintRules", True)

    def profile(self) -> Profile:
        """Return the allocator profile."""
        return _profile(self) if self._named() else _profile.__wrapped__(self)

    def _named(self) -> bool:
        """Return whether all names are texts, and can be kept by; what is none is refused by who reads it."""
        names: tuple[Any, ...] = (self.release, self.channel, self.semantics)
        return all(isinstance(each, str) for each in names)


# Asked for at every turn, and the same for as long as the settings are.
@lru_cache(maxsize=64)
def _effective(release: str, gates: Mapping[str, bool]) -> FrozenMap[str, bool]:
    return FrozenMap(gates_of(release, gates))


@lru_cache(maxsize=64)
def _profile(settings: Settings) -> Profile:
    return profile_for(settings.release, settings.effective_gates(), settings.channel, settings.semantics)


DEFAULT_SETTINGS: Final = Settings()
