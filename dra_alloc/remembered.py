"""
What is remembered of what was asked: never more than so much, the oldest forgotten first.

A process may be asked for years. What is remembered only saves work: whoever
finds it gone finds it out again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, Final, Generic, TypeVar, cast
from weakref import ref

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_Asked = TypeVar("_Asked", bound=Callable[..., Any])

#: Texts that nothing in the API is longer than, nearly; of others nothing is remembered.
_SHORT: Final = 512


class Remembered(Generic[K, V]):
    """
    A map that forgets what was put first once the weights of all come to more than `most`; safe for several threads.

    The weight of an entry is what the caller says, 1 by default: `most` is a number of entries then.
    """

    __slots__ = ("_found", "_left", "_lock", "_weights", "get", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._left = most
        self._lock = Lock()
        self._found: dict[K, V] = {}
        #: Those that are not 1.
        self._weights: dict[K, int] = {}
        self.get = self._found.get

    def put(self, key: K, value: V, weight: int = 1) -> V:
        """Remember a value, unless one is there; return the one that counts."""
        with self._lock:
            known = self._found
            before = len(known)
            found = known.setdefault(key, value)
            if len(known) > before:
                if weight != 1:
                    self._weights[key] = weight
                self._left -= weight
                self._forget()
        return found

    def put_all(self, values: Mapping[K, V]) -> None:
        """Remember values of weight 1 under keys that are new, and under known ones what is there or its equal."""
        with self._lock:
            known = self._found
            before = len(known)
            known.update(values)
            self._left -= len(known) - before
            self._forget()

    def _forget(self) -> None:
        """Let go of what was put first until the rest is no more than may be there."""
        while self._left < 0 and len(self._found) > 1:
            oldest = next(iter(self._found))
            self._left += self._weights.pop(oldest, 1)
            del self._found[oldest]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._found.clear()
            self._weights.clear()
            self._left = self.most

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._found))


class Numbers:
    """
    Numbers for values: equal ones for equal values, and new ones, never given before, for those forgotten since.
    """

    __slots__ = ("_known", "_lock", "_next", "get", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._next = 0
        self._known: dict[Hashable, int] = {}
        self.get = self._known.get

    def of(self, value: Hashable) -> int:
        """Return the number of a value."""
        found = self._known.get(value)
        if found is None:
            with self._lock:
                found = self._known.setdefault(value, self._next)
                if found == self._next:
                    self._next += 1
                    if len(self._known) > self.most:
                        del self._known[next(iter(self._known))]
        return found

    def __len__(self) -> int:
        return len(self._known)


def of_objects(asked: Callable[[K], V]) -> Callable[[K], V]:
    """Return what makes a function of an immutable object remember its answer for as long as the object is there."""
    known: dict[int, tuple[ref[K], V]] = {}

    @wraps(asked)
    def answer(item: K) -> V:
        key = id(item)
        found = known.get(key)
        if found is None or found[0]() is not item:
            found = known[key] = ref(item, lambda _: known.pop(key, None)), asked(item)
        return found[1]

    return answer


def of_short_texts(most: int) -> Callable[[_Asked], _Asked]:
    """Return what makes a function of a text remember its latest answers, those for texts as long as honest ones."""

    def remembering(asked: _Asked) -> _Asked:
        known = lru_cache(maxsize=most)(asked)

        @wraps(asked)
        def answer(text: str, **how: Any) -> Any:
            return known(text, **how) if len(text) <= _SHORT else asked(text, **how)

        return cast(_Asked, answer)

    return remembering
