"""Summaries and hand-overs of sessions, quoted from what was said in them, without a model.

A sketch grows with every batch of a transcript and is stored with the session. The summary and the hand-over are made
from it again after each turn. Each part of them names whose words it quotes.
"""

from subconscious.sessions.answers import with_answers
from subconscious.sessions.deeds import Deeds, read_deeds
from subconscious.sessions.handover import Handover, Transcript, handover_of
from subconscious.sessions.sketch import PLAN, Sketch
from subconscious.sessions.telling import MAIN_BRANCHES, Summary, tell

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
