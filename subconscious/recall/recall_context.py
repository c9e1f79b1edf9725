"""The context of searches and of storing: the database, the index, the settings, the embedder, the search options."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from subconscious.calibration.curves import UNCALIBRATED, Calibration
from subconscious.claude_files.known_statements import NO_STATEMENTS, KnownStatements
from subconscious.context.arguments import Args
from subconscious.domain.model import Relation
from subconscious.embeddings.engine_cache import EngineCache
from subconscious.recall.context import ContextWeights
from subconscious.recall.fusion import PRESETS, Fused, Fusion
from subconscious.recall.marks import UNKNOWN, WorktreeState
from subconscious.recall.modes import DEPTHS, EXTENDED, Depth, mode_of
from subconscious.recall.selection import Selection
from subconscious.settings.settings import Settings
from subconscious.store.connect import Database

if TYPE_CHECKING:
    import numpy

    from subconscious.store.vectors import VectorIndex


Embed = Callable[[str], Awaitable["numpy.ndarray | None"]]
"""The type of a function that embeds a text; it returns None while no embedder is loaded."""


async def not_embedded(text: str) -> None:
    """Return None: stands in for a missing embedder."""
    del text


Relate = Callable[[str, Sequence[str]], Awaitable[list[Relation]]]
"""The type of a function that returns how a new statement relates to earlier ones; [] without a local embedder."""


async def not_related(new: str, olds: Sequence[str]) -> list[Relation]:
    """Return no relations: stands in for a missing local embedder."""
    del new, olds
    return []


@dataclass(frozen=True, slots=True)
class RecallContext:
    """The objects that searching and storing need. ``index`` is None while it loads; only full text is searched then.

    ``worktree_state`` is the state of the files and branches that memories are bound to. ``embed_now`` embeds a text
    that is about to be stored, if this needs neither a remote call nor waiting. ``engine_cache`` has recent results of
    the engines. ``client_texts`` are the texts that the client itself loads into this session. ``relate`` compares
    statements using the local model.
    """

    database: Database
    index: VectorIndex | None
    settings: Settings
    embed: Embed
    calibration: Calibration = UNCALIBRATED
    worktree_state: WorktreeState = UNKNOWN
    embed_now: Embed = not_embedded
    engine_cache: EngineCache[Fused] = field(default_factory=EngineCache)
    client_texts: KnownStatements = NO_STATEMENTS
    relate: Relate = not_related

    @property
    def context_weights(self) -> ContextWeights:
        """The weights of a hit's neighbours and session."""
        return ContextWeights(self.settings.fusion_near, self.settings.fusion_session)

    @property
    def fusion(self) -> Fusion:
        """The settings of the fusion."""
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
        """The limits of a search."""
        return DEPTHS[self.settings.recall_budget]

    def wanted(self, text: str) -> Selection:
        """Return the limits for the hits that a search for ``text`` returns."""
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


OPTIONS = {"preset": "fusion", "mode": "recall_mode", "budget": "recall_budget"}
"""The name of the setting that is the default, by search option."""


class SearchOptions(Args):
    """The options of a search request besides the query; settings are their defaults."""

    preset: Literal["relative", "rrf", "nexus"] | None = None
    mode: Literal["any", "auto", "execution", "planning", "brainstorming"] | None = None
    budget: Literal["lean", "balanced", "deep"] | None = None
    nearest: bool | None = None


def with_options(ctx: RecallContext, options: SearchOptions) -> RecallContext:
    """Return the context, with the options of a request in place of the settings."""
    given = {setting: getattr(options, name) for name, setting in OPTIONS.items() if getattr(options, name) is not None}
    return replace(ctx, settings=ctx.settings.model_copy(update=given))
