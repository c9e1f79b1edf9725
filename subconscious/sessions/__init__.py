"""Summaries and hand-overs of sessions, quoted from the user's and the assistant's words, without a model.

A sketch is a small record of a running session. It grows with every batch of transcript lines and is stored with the
session. The summary and the hand-over are made from the sketch again after each turn. Each part of them says whether it
quotes the user or the assistant.
"""

from subconscious.sessions.answers import with_answers
from subconscious.sessions.deeds import Deeds, read_deeds
from subconscious.sessions.handover import Handover, handover_of
from subconscious.sessions.reports import Transcript
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
