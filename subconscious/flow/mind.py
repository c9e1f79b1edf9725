"""What remembering and recalling need: the store, the index, the settings, the embedder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subconscious.capture.calibration import Calibration
from subconscious.capture.relation import Relation
from subconscious.claude_files.told import NOTHING, Told
from subconscious.search.context import Around
from subconscious.search.depths import DEPTHS, Depth
from subconscious.search.found import Found
from subconscious.search.modes import EXTENDED, mode_of
from subconscious.search.presets import PRESETS, Fusion
from subconscious.search.selection import Selection
from subconscious.settings import Settings
from subconscious.store.connect import Database
from subconscious.surfacing.marks import UNKNOWN, Standing

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex


Embed = Callable[[str], Awaitable["numpy.ndarray | None"]]
"""A query's embedding, or None while there is no embedder: recall then goes by words alone."""


async def nothing_at_hand(text: str) -> None:
    """Where there is no embedder."""
    del text


Relate = Callable[[str, Sequence[str]], Awaitable[list[Relation]]]
"""What a statement does to each of some earlier ones; nothing while there is no local embedder."""


async def nothing_related(new: str, olds: Sequence[str]) -> list[Relation]:
    """Where there is no embedder."""
    del new, olds
    return []


UNCALIBRATED = Calibration()
"""Before any decision: every extractor is taken at its word."""


@dataclass(frozen=True, slots=True)
class Mind:
    """What remembering and recalling need. ``index`` is None while it is opened: recall goes by words then.

    ``standing`` is what is known at the moment of the files and branches that memories are bound to. ``at_hand`` embeds
    what is about to be stored, if it takes no call and no waiting. ``found`` is what the index's engines answered last.
    ``elsewhere`` is what the client itself tells the session that this is about. ``relate`` compares statements by the
    local model.
    """

    database: Database
    index: VectorIndex | None
    settings: Settings
    embed: Embed
    calibration: Calibration = UNCALIBRATED
    standing: Standing = UNKNOWN
    at_hand: Embed = nothing_at_hand
    found: Found = field(default_factory=Found)
    elsewhere: Told = NOTHING
    relate: Relate = nothing_related

    @property
    def around(self) -> Around:
        """How much what stands around a hit counts."""
        return Around(self.settings.fusion_near, self.settings.fusion_session)

    @property
    def fusion(self) -> Fusion:
        """How engines are fused."""
        chosen = self.settings
        return Fusion(
            preset=chosen.fusion,
            alpha=chosen.fusion_alpha,
            feedback=chosen.fusion_feedback,
            graph=chosen.fusion_graph,
            kin=chosen.graph_kin,
            damping=chosen.graph_damping,
            k=chosen.rrf_k,
            agreement=chosen.rrf_agreement,
            rrf_graph=chosen.rrf_graph,
            shares=(chosen.nexus_vector, chosen.nexus_graph, chosen.nexus_belief),
        )

    @property
    def depth(self) -> Depth:
        """How far a search looks."""
        return DEPTHS[self.settings.recall_budget]

    def wanted(self, text: str) -> Selection:
        """Which hits somebody wants to see who asks ``text``."""
        chosen = self.settings
        preset = PRESETS[chosen.fusion]
        name = preset.mode if chosen.recall_mode == "preset" else chosen.recall_mode
        mode = mode_of(name, text, {one: getattr(chosen, f"{one}_relevance") for one in EXTENDED})
        floor = chosen.nexus_relevance if chosen.fusion == "nexus" else 0.0
        return Selection(
            hits=mode.hits,
            relevance=max(mode.relevance, floor),
            first=chosen.recall_first,
            alone=chosen.recall_budget == "lean",
            summed=True,
            mode=mode.name,
            tokens=mode.tokens or self.depth.tokens,
        )
