"""metav1: what every object carries beside its spec and status."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from dra_alloc.api._base import FrozenMap, KubeModel, List, OptText, PtrBool, PtrInt, Text

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


def read_time(value: Any) -> str | None:
    """
    Return an RFC 3339 time as metav1.Time prints it: UTC, whole seconds.

    Raises: PydanticCustomError, on anything else.
    """
    if value is None:
        return None
    if isinstance(value, str) and _RFC3339.fullmatch(value):
        try:
            moment = datetime.fromisoformat(re.sub(r"[.,]\d+", "", value))
            return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
        except (ValueError, OverflowError):
            pass
    raise PydanticCustomError("timestamp", "must be an RFC 3339 time such as 2026-01-31T12:00:00Z")


Timestamp = Annotated[str | None, BeforeValidator(read_time)]
"""A metav1.Time as text in UTC with whole seconds, so equal instants are equal texts."""

Labels = FrozenMap[str, Text]


def _drop(value: Any) -> None:
    """Read a field that only the API server cares about."""
    return


class OwnerReference(KubeModel):
    """The object this one lives and dies with."""

    api_version: Text = ""
    kind: Text = ""
    name: Text = ""
    uid: Text = ""
    controller: PtrBool = None
    block_owner_deletion: PtrBool = None


class ObjectMeta(KubeModel):
    """
    Name, labels and bookkeeping of an object.

    `managed_fields` is accepted and forgotten: it is never part of an answer.
    """

    name: OptText = None
    generate_name: OptText = None
    namespace: OptText = None
    self_link: OptText = None
    uid: OptText = None
    resource_version: OptText = None
    generation: PtrInt = None
    creation_timestamp: Timestamp = None
    deletion_timestamp: Timestamp = None
    deletion_grace_period_seconds: PtrInt = None
    labels: Labels = FrozenMap()
    annotations: Labels = FrozenMap()
    owner_references: List[OwnerReference] = ()
    finalizers: List[Text] = ()
    managed_fields: Annotated[None, BeforeValidator(_drop)] = Field(default=None, exclude=True)

    @property
    def full_name(self) -> str:
        """Return `namespace/name`, or just the name without a namespace."""
        name = self.name or ""
        return f"{self.namespace}/{name}" if self.namespace else name


class Condition(KubeModel):
    """metav1.Condition: one aspect of an object's state and when it last changed."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"last_transition_time"})

    type: Text = ""
    status: Text = ""
    observed_generation: PtrInt = None
    last_transition_time: Timestamp = None
    reason: Text = ""
    message: Text = ""


class LabelSelectorRequirement(KubeModel):
    """One term of a label selector."""

    key: Text = ""
    operator: Text = ""
    values: List[Text] = ()


class LabelSelector(KubeModel):
    """Labels that must be there, and expressions over them; all must hold."""

    match_labels: Labels = FrozenMap()
    match_expressions: List[LabelSelectorRequirement] = ()
