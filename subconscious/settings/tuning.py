"""Fixed values of the product that users have no reason to change.

They are read like settings (``settings.rrf_k``) but can't be set: if config.toml has one of them, a warning is logged.
"""

from __future__ import annotations

from typing import ClassVar, Literal


class Tuning:
    """The fixed values. docs/figures.md describes how values were measured."""

    calibration_prior: ClassVar[float] = 30
    """Weight of the extractor's own confidence, expressed as a number of decisions by people."""

    calibration_days: ClassVar[float] = 180
    """Days after which a decision of the user counts only half as much."""

    calibration_silence: ClassVar[float] = 0.2
    """Weight of a capture that was shown to sessions and that nobody rejected, relative to an approval (1)."""

    dedupe_likeness: ClassVar[float] = 0.85
    """Cosine similarity above which two statements may be the same."""

    chunk_overlap: ClassVar[int] = 4
    """Turns shared by two consecutive chunks of a transcript."""

    redaction_log: ClassVar[int] = 5000
    """The maximum number of findings that `subconscious redactions` can list."""

    poisoning_low: ClassVar[float] = 0.8
    """Factor that lowers the confidence of a slightly suspicious capture."""

    start_characters: ClassVar[int] = 9500
    """Maximum number of characters shown at a session's start."""

    handover_tokens: ClassVar[int] = 250
    """The maximum number of tokens of the hand-over, within `start_tokens`."""

    file_surfaces: ClassVar[int] = 2
    """Maximum number of memories shown for one file."""

    due_days: ClassVar[float] = 14
    """Days for which a memory is still shown to sessions after the date that it names."""

    link_threshold: ClassVar[float] = 0.7
    """Confidence from which a discovered link is used."""

    link_proposal_threshold: ClassVar[float] = 0.35
    """Confidence from which a link is proposed: shown, but not used."""

    embedder_timeout_seconds: ClassVar[float] = 30
    """Seconds that one call to the embedder may take."""

    embedder_check_seconds: ClassVar[float] = 5
    """Seconds that the check of the embedder's key may take."""

    embedder_prompt_ms: ClassVar[float] = 150
    """Milliseconds that a hook waits for an embedding before it searches by words only."""

    fusion_alpha: ClassVar[float] = 0.5
    """Weight of the vector search in the preset `relative`."""

    fusion_graph: ClassVar[float] = 0.3
    """Weight of the links in the preset `relative`."""

    fusion_near: ClassVar[float] = 0.25
    """Share of the scores of a memory's neighbours in its session that is added to the memory's own score."""

    fusion_session: ClassVar[float] = 0.2
    """Bonus for memories of a session with good hits."""

    fusion_names: ClassVar[float] = 0.5
    """Bonus for tags and files named in the query."""

    fusion_dates: ClassVar[float] = 0.5
    """Bonus for the time named in the query."""

    fusion_kinds: ClassVar[float] = 0.1
    """Bonus for the kind named in the query."""

    prompt_context: ClassVar[bool] = True
    """Expand a short prompt with words of the last five messages."""

    tier_minimal: ClassVar[int] = 100
    """The maximum number of tokens of a memory in the tier `minimal`."""

    tier_compact: ClassVar[int] = 200
    """The maximum number of tokens of a memory in the tier `compact`."""

    tier_standard: ClassVar[int] = 400
    """The maximum number of tokens of a memory in the tier `standard`."""

    graph_damping: ClassVar[float] = 0.5
    """Probability that the random walk over memories follows a link instead of starting again."""

    graph_kin: ClassVar[float] = 0
    """Weight of similarity in meaning as a link; 0: only links count."""

    rrf_k: ClassVar[int] = 60
    """Constant k of the `rrf` preset."""

    rrf_agreement: ClassVar[float] = 1.10
    """Factor for hits found by two search methods in the preset `rrf`."""

    rrf_graph: ClassVar[float] = 1.5
    """Weight of the links in the preset `rrf`."""

    nexus_vector: ClassVar[float] = 0.4
    """Weight of the vectors in the preset `nexus`."""

    nexus_graph: ClassVar[float] = 0.4
    """Weight of the links in the preset `nexus`."""

    nexus_belief: ClassVar[float] = 0.2
    """Weight of the combined probability (noisy-or) of all engines in the preset `nexus`."""

    nexus_relevance: ClassVar[float] = 0.3
    """Relevance threshold of the preset `nexus`."""

    execution_relevance: ClassVar[float] = 0.85
    """Relevance threshold of the mode `execution`."""

    planning_relevance: ClassVar[float] = 0.65
    """Relevance threshold of the mode `planning`."""

    brainstorming_relevance: ClassVar[float] = 0.5
    """Relevance threshold of the mode `brainstorming`."""

    recall_first: ClassVar[float] = 0.65
    """Relevance from which pinned, approved and summary memories come first."""

    ranking_decay: ClassVar[float] = 0.01
    """Decay rate per day in the ranking."""

    feedback_weight: ClassVar[float] = 0.3
    """Weight of `useful`, `wrong` and corrections in the ranking."""

    decay_recency: ClassVar[float] = 0.4
    """Weight of recency in the decay formula `weighted`."""

    decay_frequency: ClassVar[float] = 0.3
    """Weight of the frequency of use in the decay formula `weighted`."""

    decay_relevance: ClassVar[float] = 0.2
    """Weight of recent work on a memory's files in the decay formula `weighted`."""

    decay_supersession: ClassVar[float] = 0.1
    """Weight of not being superseded in the decay formula `weighted`."""

    consolidation_likeness: ClassVar[float] = 0.7
    """Minimum cosine between any two memories of a group of similar memories."""

    consolidation_auto: ClassVar[float] = 0.95
    """Cosine similarity of a group's memories above which their summary needs no approval."""

    promote_from: ClassVar[float] = 7
    """Promotion score (1 to 10) from which a memory is project knowledge."""

    observe_from: ClassVar[float] = 4
    """Promotion score (1 to 10) from which a memory is in the rendered files."""

    rendered_memories: ClassVar[int] = 200
    """Maximum number of memories in one rendered file."""

    friction_sessions: ClassVar[int] = 3
    """Number of sessions that must have the same problem for it to count as a pattern."""

    provider_patience_seconds: ClassVar[float] = 20
    """The longest pause before a call is repeated, in seconds; after a longer retry-after delay, a job repeats it."""

    breaker_failures: ClassVar[int] = 5
    """Consecutive failures after which a provider is paused."""

    cost_warning: ClassVar[float] = 0.8
    """Share of a spending cap at which a warning is shown once."""

    micro_batch_size: ClassVar[int] = 10
    """Maximum number of requests combined in one call."""

    native_batches: ClassVar[bool] = True
    """Use a provider's batch API for deferred work."""

    later_attempts: ClassVar[int] = 3
    """Number of attempts at deferred work before it counts as failed."""

    maintenance_hour: ClassVar[int] = 3
    """Hour of the day from which nightly maintenance is due."""

    backups_daily: ClassVar[int] = 7
    """Number of daily copies of the database."""

    backups_weekly: ClassVar[int] = 4
    """Number of weekly copies, in addition to the daily ones."""

    spool_max_mb: ClassVar[int] = 256
    """Maximum size of the spool in MB; beyond this size, the oldest entries are dropped."""

    silent_minutes: ClassVar[float] = 30
    """Minutes of silence after which a session counts as over."""

    sweep_seconds: ClassVar[float] = 5
    """Seconds between two sweeps of the spool."""

    known_summaries: ClassVar[int] = 20
    """How many known memories a model is shown so that it does not repeat them."""

    surface_relevance: ClassVar[float] = 0.6
    """Relevance threshold for memories that are shown without a search."""

    surface_cooldown_minutes: ClassVar[float] = 5
    """Minutes before a memory is shown again to the same session."""

    prompt_memories: ClassVar[int] = 3
    """Maximum number of memories shown with one prompt."""

    prompt_tokens: ClassVar[int] = 300
    """Maximum number of tokens shown with one prompt."""

    fusion_feedback: ClassVar[float] = 0.5
    """Weight of the best hits in the query of a second search; 0: no second search."""

    recall_alike: ClassVar[float] = 0.95
    """Cosine above which two hits count as the same, and only the better one is shown."""

    stale_days: ClassVar[float] = 90
    """Days without use after which a memory is stale."""

    stale_factor: ClassVar[float] = 0.5
    """Factor on the rank of a stale memory."""

    superseded_factor: ClassVar[float] = 0.5
    """Factor on the rank of a superseded memory."""

    archive_most: ClassVar[int] = 100
    """Maximum number of memories archived in one day; the rest waits for the next day."""

    consolidation_daily: ClassVar[int] = 10
    """Maximum number of summaries made in one day, including those that wait for approval."""

    provider_timeout_seconds: ClassVar[float] = 60
    """Seconds that one call to a provider may take."""

    provider_recheck_minutes: ClassVar[float] = 60
    """Minutes until a provider that refused its key is tried again."""

    rate_window_seconds: ClassVar[float] = 60
    """Seconds over which `requests_per_minute` and `tokens_per_minute` are counted."""

    micro_batches: ClassVar[bool] = True
    """Combine several small requests in one call."""

    micro_batch_seconds: ClassVar[float] = 0.1
    """Seconds for which small requests are collected before they are combined in one call."""

    native_batch_size: ClassVar[int] = 1000
    """Maximum number of requests in one batch of a provider."""

    workers: ClassVar[int] = 2
    """How many jobs run at the same time."""

    job_timeout_seconds: ClassVar[float] = 120
    """Seconds that one job may take."""

    calibration: ClassVar[bool] = True
    """Adjust the extractors' confidences to the user's earlier decisions."""

    review_threshold: ClassVar[float] = 0.7
    """Confidence from which a statement is queued for review; below, it is discarded."""

    session_captures: ClassVar[int] = 15
    """The maximum number of captures that one session may add, the strongest first."""

    model_scores: ClassVar[Literal["keep", "five"]] = "keep"
    """How a model scores its findings: `keep` is one score, `five` a weighted sum of five scores."""

    chunk_tokens: ClassVar[int] = 50_000
    """The maximum number of tokens of a transcript in one call to a model."""

    refine_pause_seconds: ClassVar[float] = 30
    """Seconds to wait after the provider was unavailable; doubles with each failure."""

    session_tokens: ClassVar[int] = 300
    """Maximum number of tokens of all memories together that one session is shown after its start."""

    surface_due: ClassVar[bool] = True
    """Show a memory on the date that it names."""

    feedback: ClassVar[bool] = True
    """Rank memories by whether the assistant's answers used them after they were shown."""

    mark_outdated: ClassVar[bool] = True
    """Mark a memory if its files have changed since it was stored."""

    mark_branches: ClassVar[bool] = True
    """Mark a memory from a branch that is not merged."""

    trust_marks: ClassVar[bool] = True
    """Show notes about how far a memory can be trusted, and about its conflicts."""

    link_limit: ClassVar[int] = 20
    """Maximum number of links discovered for one memory."""

    fusion: ClassVar[Literal["relative", "rrf", "nexus"]] = "relative"
    """The preset that combines the results of several search methods."""

    reword_seconds: ClassVar[float] = 3
    """Seconds that a search waits for additional search words from a model."""

    tier: ClassVar[Literal["minimal", "compact", "standard", "full"]] = "standard"
    """How much of each memory a recall shows by default."""

    recall_budget: ClassVar[Literal["lean", "balanced", "deep"]] = "balanced"
    """How far a search looks and how much text it returns by default."""

    recall_mode: ClassVar[Literal["preset", "any", "auto", "execution", "planning", "brainstorming"]] = "preset"
    """Default search mode: `preset` is the mode of the fusion preset; `auto` detects the mode from the query."""

    archive_below: ClassVar[float] = 0.3
    """Decay value (0 to 1) below which an unused memory is archived."""

    archive_patience: ClassVar[float] = 1
    """Number of half-lives for which an unused memory is always kept; 0: only the formula decides."""

    provider_attempts: ClassVar[int] = 4
    """Number of attempts at a call to a provider before its job waits."""

    requests_per_minute: ClassVar[int] = 60
    """Maximum number of calls to one provider in any minute."""

    tokens_per_minute: ClassVar[int] = 100_000
    """Maximum number of tokens sent to one provider in any minute."""

    breaker_seconds: ClassVar[float] = 60
    """Seconds for which a provider is paused after repeated failures."""

    dedupe: ClassVar[bool] = True
    """Merge a repeated statement into its memory."""

    native_batch_seconds: ClassVar[float] = 60
    """Seconds before the first check of a batch; each further pause is half as long again, up to a limit."""

    maintenance: ClassVar[bool] = True
    """Nightly, weekly and monthly maintenance."""

    maintenance_quiet_seconds: ClassVar[float] = 120
    """Seconds without prompts and commands before maintenance starts."""

    maintenance_share: ClassVar[float] = 0.25
    """Share of one processor that maintenance may use."""

    job_attempts: ClassVar[int] = 5
    """Number of attempts at a job before it is set aside as failed."""
