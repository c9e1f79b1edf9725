"""Texts that try to break out of a frame."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = [
    *"< > / system-reminder subconscious-memory user : Human Assistant &lt; &amp;lt; &#60; \\u003c %3C".split(" "),
    *"\u200b \u202e \u00ad \uff1c \uff1e \u0455 [12] decision, [INST] ] ( \x1b[31m \x07 \x85 \u2028 \u0336".split(" "),
    *"\U000e0041 function_calls why: -".split(" "),
    *(" ", "\n", "\r\n", "\t"),
]
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join)
