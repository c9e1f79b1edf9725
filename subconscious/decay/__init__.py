"""How memories fade: pure factors, a combiner, policies as data. No clock, no database.

``Facts`` are what is known of one memory, ``Terms`` what a person may set. A factor is a function of both and the time,
a ``Policy`` a row that names its factors and how they are combined. States are derived from the value, never stored.
"""

from subconscious.decay.facts import DAY, IMPORTANCE, Facts, Terms, last_alive
from subconscious.decay.feedback import OUTCOMES, effective, stability, standing, surer
from subconscious.decay.policies import (
    POLICIES,
    STATES,
    Policy,
    Verdict,
    assess,
    days_until_due,
    due,
    patience,
    state_of,
)
from subconscious.decay.ranking import ranking_decay

__all__ = [
    "DAY",
    "IMPORTANCE",
    "OUTCOMES",
    "POLICIES",
    "STATES",
    "Facts",
    "Policy",
    "Terms",
    "Verdict",
    "assess",
    "days_until_due",
    "due",
    "effective",
    "last_alive",
    "patience",
    "ranking_decay",
    "stability",
    "standing",
    "state_of",
    "surer",
]
