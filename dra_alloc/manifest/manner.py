"""
How documents are read: what becomes of fields that are not known, and of objects given twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from dra_alloc.manifest.repetition import Repeated
from dra_alloc.releases import Release

Validate = Literal["strict", "warn", "ignore"]


@dataclass(frozen=True, slots=True)
class Manner:
    """
    How documents are read.

    `validate` is kubectl's: ``strict`` refuses unknown and repeated fields,
    ``warn`` reports them in `Documents.warnings`, ``ignore`` says nothing. Fields
    that a `release` does not have are unknown, and no apiVersion is assumed (but
    with ``ignore``); without one, none is too new.
    `repeated` says what an object of the same name and other content does:
    replace the earlier, be refused, or be kept beside it.
    """

    validate: Validate = "strict"
    repeated: Repeated = "replace"
    release: Release | None = None

    @classmethod
    def applied(cls, validate: Validate) -> Manner:
        """
        Return how manifests to apply are read: with ``strict`` no object is there twice with different content.

        Spec: CONV-26.
        """
        return cls(validate, "refuse" if validate == "strict" else "replace")

    @property
    def assumes(self) -> bool:
        """Whether an apiVersion that is missing is assumed."""
        return self.release is None or self.validate == "ignore"


AS_KUBECTL: Final = Manner()
