"""Finds clusters: groups of memories in which each memory is similar to every other one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST = 10
"""The maximum number of members of a cluster."""

_NEVER = -2.0
"""A value lower than any cosine, for pairs that must never be merged."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster: ids of memories, the most central first. ``cohesion`` is the lowest cosine between two members."""

    members: tuple[int, ...]
    cohesion: float


def clusters(
    vectors: Mapping[int, NDArray[np.float32]], apart: Callable[[int, int], bool], least: float, most: int = MOST
) -> list[Cluster]:
    """Return clusters of 2 to ``most`` members with cosines of at least ``least``, the most similar cluster first.

    The method is complete linkage: the two nearest groups are merged repeatedly, and the distance of two groups is the
    distance of their farthest members. So a chain of similar memories from one topic to another is not a cluster. Two
    memories for which ``apart`` returns True are never in one cluster. The result does not depend on the order of the
    vectors.
    """
    ids = sorted(vectors)
    if len(ids) < 2:
        return []
    cosines = _cosines([vectors[number] for number in ids])
    groups = _Groups(cosines, most)
    while (pair := groups.nearest(least)) is not None:
        if any(apart(ids[one], ids[other]) for one in groups.of(pair[0]) for other in groups.of(pair[1])):
            groups.separate(*pair)
        else:
            groups.merge(*pair)
    found = [_cluster(ids, cosines, group) for group in groups.merged()]
    return sorted(found, key=lambda one: (-one.cohesion, one.members))


def _cosines(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    matrix = np.stack(rows).astype(np.float64)
    found: NDArray[np.float64] = np.clip(matrix @ matrix.T, -1.0, 1.0)
    return found


def _cluster(ids: Sequence[int], cosines: NDArray[np.float64], group: Sequence[int]) -> Cluster:
    among = cosines[np.ix_(group, group)].copy()
    np.fill_diagonal(among, 0.0)
    nearness = dict(zip(group, among.sum(axis=1).tolist(), strict=True))
    central = sorted(group, key=lambda one: (-round(nearness[one], 9), ids[one]))
    return Cluster(tuple(ids[one] for one in central), float(among[~np.eye(len(group), dtype=bool)].min()))


class _Groups:
    """Groups of vectors, and the cosines between groups. A group's number is the row of its first vector."""

    def __init__(self, cosines: NDArray[np.float64], most: int) -> None:
        self._near = cosines.copy()
        np.fill_diagonal(self._near, _NEVER)
        self._sizes = np.ones(len(cosines), dtype=np.int64)
        self._members = [[row] for row in range(len(cosines))]
        self._most = most

    def nearest(self, least: float) -> tuple[int, int] | None:
        """Return the two most similar groups; None if no pair reaches the cosine ``least``."""
        one, other = divmod(int(self._near.argmax()), len(self._near))
        return (one, other) if self._near[one, other] >= least else None

    def of(self, group: int) -> list[int]:
        return self._members[group]

    def separate(self, one: int, other: int) -> None:
        """Record that two groups must never be merged."""
        self._near[one, other] = self._near[other, one] = _NEVER

    def merge(self, one: int, other: int) -> None:
        self._members[one] += self._members[other]
        self._members[other] = []
        self._sizes[one] += self._sizes[other]
        merged = np.minimum(self._near[one], self._near[other])
        merged[self._sizes + self._sizes[one] > self._most] = _NEVER
        merged[one] = _NEVER
        self._near[one] = self._near[:, one] = merged
        self._near[other] = self._near[:, other] = _NEVER

    def merged(self) -> Iterable[list[int]]:
        return (sorted(group) for group in self._members if len(group) > 1)
