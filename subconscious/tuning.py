"""Values that shape the product and that no user has a reason to change.

They are read like settings (``settings.rrf_k``) and can't be set: for a config.toml that names one, the log has a line.
"""

from __future__ import annotations

from typing import ClassVar, Literal


class Tuning:
    """Each number with its meaning; what they were measured with is in docs/figures.md."""

    calibration_prior: ClassVar[float] = 30
    """Outcomes that a stated confidence counts for."""

    calibration_days: ClassVar[float] = 180
    """Days after which an outcome counts half."""

    calibration_silence: ClassVar[float] = 0.2
    """What a capture given to sessions without objection counts for."""

    dedupe_likeness: ClassVar[float] = 0.85
    """Cosine above which two statements may be one said twice."""

    chunk_overlap: ClassVar[int] = 4
    """Turns that two such chunks share."""

    redaction_log: ClassVar[int] = 5000
    """Findings that `subconscious redactions` remembers."""

    poisoning_low: ClassVar[float] = 0.8
    """What a slight suspicion multiplies confidence by."""

    start_characters: ClassVar[int] = 9500
    """Characters at session start."""

    handover_tokens: ClassVar[int] = 250
    """Budget of that, within `start_tokens`."""

    file_surfaces: ClassVar[int] = 2
    """Of these, memories given for one file."""

    due_days: ClassVar[float] = 14
    """Days after that date in which it is still given."""

    link_threshold: ClassVar[float] = 0.7
    """Confidence from which a found link counts."""

    link_proposal_threshold: ClassVar[float] = 0.35
    """Likelihood from which one is proposed: shown, but counted in nothing."""

    embedder_timeout_seconds: ClassVar[float] = 30
    """Time one call of it may take."""

    embedder_check_seconds: ClassVar[float] = 5
    """Time the check of its key may take."""

    embedder_prompt_ms: ClassVar[float] = 150
    """Time a hook waits for it before words do alone."""

    fusion_alpha: ClassVar[float] = 0.5
    """Weight of the vector engine in `relative`."""

    fusion_graph: ClassVar[float] = 0.3
    """Weight of the links in `relative`."""

    fusion_near: ClassVar[float] = 0.25
    """What a neighbour's score adds to a memory's own."""

    fusion_session: ClassVar[float] = 0.2
    """What a session in which much was found adds."""

    fusion_names: ClassVar[float] = 0.5
    """What the tags and files that a query names add."""

    fusion_dates: ClassVar[float] = 0.5
    """What the time that a search speaks of adds."""

    fusion_kinds: ClassVar[float] = 0.1
    """What the kind that a search speaks of adds."""

    prompt_context: ClassVar[bool] = True
    """Complete a short prompt by words of the last five messages."""

    tier_minimal: ClassVar[int] = 100
    """Tokens of a memory in the tier `minimal`."""

    tier_compact: ClassVar[int] = 200
    """Tokens in `compact`."""

    tier_standard: ClassVar[int] = 400
    """Tokens in `standard`."""

    graph_damping: ClassVar[float] = 0.5
    """Share of a walk that follows links."""

    graph_kin: ClassVar[float] = 0
    """What likeness in meaning counts as a link of; 0: only links are links."""

    rrf_k: ClassVar[int] = 60
    """K of the `rrf` preset."""

    rrf_agreement: ClassVar[float] = 1.10
    """Factor for hits of two engines in `rrf`."""

    rrf_graph: ClassVar[float] = 1.5
    """Weight of the links in `rrf`."""

    nexus_vector: ClassVar[float] = 0.4
    """Weight of the vectors in `nexus`."""

    nexus_graph: ClassVar[float] = 0.4
    """Weight of the links in `nexus`."""

    nexus_belief: ClassVar[float] = 0.2
    """Weight of the noisy-or in `nexus`."""

    nexus_relevance: ClassVar[float] = 0.3
    """Relevance from which `nexus` shows a hit."""

    execution_relevance: ClassVar[float] = 0.85
    """Relevance from which that mode shows one."""

    planning_relevance: ClassVar[float] = 0.65
    """The same for planning."""

    brainstorming_relevance: ClassVar[float] = 0.5
    """The same for brainstorming."""

    recall_first: ClassVar[float] = 0.65
    """Relevance from which pinned, approved and summary memories come first."""

    ranking_decay: ClassVar[float] = 0.01
    """A day's decay in the ranking."""

    feedback_weight: ClassVar[float] = 0.3
    """How much `useful`, `wrong` and corrections move a memory's rank."""

    decay_recency: ClassVar[float] = 0.4
    """Weight of recency in `weighted`."""

    decay_frequency: ClassVar[float] = 0.3
    """Weight of how often it was used."""

    decay_relevance: ClassVar[float] = 0.2
    """Weight of whether its files are worked on."""

    decay_supersession: ClassVar[float] = 0.1
    """Weight of whether it still holds."""

    consolidation_likeness: ClassVar[float] = 0.7
    """Cosine that all of them have at least."""

    consolidation_auto: ClassVar[float] = 0.95
    """Cosine above which it is done at once; below, a person is asked."""

    promote_from: ClassVar[float] = 7
    """Score from which a memory is project knowledge."""

    observe_from: ClassVar[float] = 4
    """Score from which a memory is in the rendered files."""

    rendered_memories: ClassVar[int] = 200
    """Memories in one rendered file at most."""

    friction_sessions: ClassVar[int] = 3
    """Sessions in which trouble recurs to be a pattern."""

    provider_patience_seconds: ClassVar[float] = 20
    """The longest pause between tries; longer retry-after delays become jobs."""

    breaker_failures: ClassVar[int] = 5
    """Failures in a row that rest a provider."""

    cost_warning: ClassVar[float] = 0.8
    """Share of a cap that is warned of once."""

    micro_batch_size: ClassVar[int] = 10
    """Requests in one such call at most."""

    native_batches: ClassVar[bool] = True
    """Use a provider's batches for what can wait."""

    later_attempts: ClassVar[int] = 3
    """Tries of what can wait before it is buried."""

    maintenance_hour: ClassVar[int] = 3
    """The hour from which it is due."""

    backups_daily: ClassVar[int] = 7
    """Days of which a copy of the database is kept."""

    backups_weekly: ClassVar[int] = 4
    """Weeks of which one is kept beyond that."""

    sweep_seconds: ClassVar[float] = 5
    """Pause between two sweeps of the spool."""

    known_summaries: ClassVar[int] = 20
    """Known memories that a model is shown, so that it does not repeat them."""

    surface_relevance: ClassVar[float] = 0.6
    """Relevance from which one is given unasked."""

    surface_cooldown_minutes: ClassVar[float] = 5
    """Pause before a memory is given again."""

    prompt_memories: ClassVar[int] = 3
    """Memories given to one prompt."""

    prompt_tokens: ClassVar[int] = 300
    """Budget of what one prompt is given."""

    fusion_feedback: ClassVar[float] = 0.5
    """What the best hits add to the query for a second look; 0: there is none."""

    recall_alike: ClassVar[float] = 0.95
    """Cosine above which two hits say the same and one is shown."""

    stale_days: ClassVar[float] = 90
    """Days without recall after which x 0.5."""

    stale_factor: ClassVar[float] = 0.5
    """What a stale memory's rank is multiplied by."""

    superseded_factor: ClassVar[float] = 0.5
    """What the rank of a memory is multiplied by whose place another has taken."""

    archive_most: ClassVar[int] = 100
    """Memories that one day may archive; the rest next day."""

    consolidation_daily: ClassVar[int] = 10
    """Summings up of one day, proposed ones included."""

    provider_timeout_seconds: ClassVar[float] = 60
    """Time one call may take."""

    provider_recheck_minutes: ClassVar[float] = 60
    """Pause after a refused key."""

    rate_window_seconds: ClassVar[float] = 60
    """The minute of the two above."""

    micro_batches: ClassVar[bool] = True
    """Ask several small things in one call."""

    micro_batch_seconds: ClassVar[float] = 0.1
    """Time such calls are gathered for."""

    native_batch_size: ClassVar[int] = 1000
    """Requests in one of those at most."""

    workers: ClassVar[int] = 2
    """Jobs worked on at once."""

    job_timeout_seconds: ClassVar[float] = 120
    """Time one job may take."""

    calibration: ClassVar[bool] = True
    """Correct stated confidence by what the user decided."""

    review_threshold: ClassVar[float] = 0.7
    """Confidence from which a statement is queued for review; below, it is discarded."""

    session_captures: ClassVar[int] = 15
    """Captures that one session may add, the strongest first."""

    model_scores: ClassVar[Literal["keep", "five"]] = "keep"
    """How a model scores what it finds: one score, or five whose weighted sum counts."""

    chunk_tokens: ClassVar[int] = 50_000
    """Tokens of a transcript that a model reads at once."""

    refine_pause_seconds: ClassVar[float] = 30
    """Pause after the provider could not be asked; doubles with every failure."""

    session_tokens: ClassVar[int] = 300
    """Tokens given in one session after its start, over all its memories."""

    surface_due: ClassVar[bool] = True
    """Give a memory when the date that it names has come."""

    feedback: ClassVar[bool] = True
    """Rank by whether answers used the memories that they were given."""

    mark_outdated: ClassVar[bool] = True
    """Mark a memory whose files have changed since."""

    mark_branches: ClassVar[bool] = True
    """Mark a memory from a branch that is not merged."""

    trust_marks: ClassVar[bool] = True
    """Show how far a memory can be trusted, and what it conflicts with."""

    link_limit: ClassVar[int] = 20
    """Links that are found for one memory at most."""

    fusion: ClassVar[Literal["relative", "rrf", "nexus"]] = "relative"
    """How the results of several engines are combined."""

    reword_seconds: ClassVar[float] = 3
    """Time that a search waits for a model's words."""

    tier: ClassVar[Literal["minimal", "compact", "standard", "full"]] = "standard"
    """How much of each memory a recall shows, unless it asks for another tier."""

    recall_budget: ClassVar[Literal["lean", "balanced", "deep"]] = "balanced"
    """How far a search looks and how much text it returns, unless it asks for another budget."""

    recall_mode: ClassVar[Literal["preset", "any", "auto", "execution", "planning", "brainstorming"]] = "preset"
    """From which relevance on results are shown; `auto` derives it from the question."""

    archive_below: ClassVar[float] = 0.3
    """Value below which an unused memory is archived."""

    archive_patience: ClassVar[float] = 1
    """Half-lives of its kind that a memory stays unused in any case; 0: the formula alone."""

    provider_attempts: ClassVar[int] = 4
    """Tries of a call before its job waits."""

    requests_per_minute: ClassVar[int] = 60
    """Calls of one provider in any minute."""

    tokens_per_minute: ClassVar[int] = 100_000
    """Tokens of one provider in any minute."""

    breaker_seconds: ClassVar[float] = 60
    """How long a provider that failed repeatedly is not asked."""

    dedupe: ClassVar[bool] = True
    """Merge a repeated statement into its memory."""

    native_batch_seconds: ClassVar[float] = 60
    """Pause between two looks at the state of a batch."""

    maintenance: ClassVar[bool] = True
    """Nightly, weekly and monthly upkeep."""

    maintenance_quiet_seconds: ClassVar[float] = 120
    """Time without prompts and commands that upkeep waits for."""

    maintenance_share: ClassVar[float] = 0.25
    """Share of one processor's time that upkeep may take."""

    job_attempts: ClassVar[int] = 5
    """Tries before a job is set aside as failed."""
