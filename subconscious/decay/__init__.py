"""Formulas by which memories fade. Pure: no clock, no database.

``Facts`` are the input from one memory, ``Terms`` the settings. A factor is a function of both and the time. A
``Policy`` names factors and the function that combines them to a memory's value. The state of a memory (hot to dormant)
is derived from its value and never stored.
"""

from subconscious.decay.cohorts import Cohort, Member, count_due, count_states, in_order
from subconscious.decay.factors import OUTCOMES, adjusted_confidence, effective_confidence, feedback_factor, stability
from subconscious.decay.facts import DAY, IMPORTANCE, Facts, Terms, last_alive
from subconscious.decay.policies import (
    POLICIES,
    STATES,
    Policy,
    Verdict,
    assess,
    can_decay,
    days_until_due,
    due,
    is_due,
    patience,
    ranking_decay,
    state_of,
)

__all__ = [
    "DAY",
    "IMPORTANCE",
    "OUTCOMES",
    "POLICIES",
    "STATES",
    "Cohort",
    "Facts",
    "Member",
    "Policy",
    "Terms",
    "Verdict",
    "adjusted_confidence",
    "assess",
    "can_decay",
    "count_due",
    "count_states",
    "days_until_due",
    "due",
    "effective_confidence",
    "feedback_factor",
    "in_order",
    "is_due",
    "last_alive",
    "patience",
    "ranking_decay",
    "stability",
    "state_of",
]
