"""What a session was about, in the words that were said in it; no model, and never a memory.

A sketch grows with every batch of a transcript and is kept beside the session, so that a summary is made anew from it
whenever the session goes on. Whose words a part of it is, is said in that part.
"""

from subconscious.summaries.answers import with_answers
from subconscious.summaries.deeds import Deeds, read_deeds
from subconscious.summaries.handover import Handover, Transcript, handover_of
from subconscious.summaries.sketch import PLAN, Sketch
from subconscious.summaries.telling import MAIN_BRANCHES, Summary, tell

__all__ = [
    "MAIN_BRANCHES",
    "PLAN",
    "Deeds",
    "Handover",
    "Sketch",
    "Summary",
    "Transcript",
    "handover_of",
    "read_deeds",
    "tell",
    "with_answers",
]
