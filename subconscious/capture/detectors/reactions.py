"""Recognises reactions that only approve of what the assistant did: "nice.", "ok this one is fine"."""

from __future__ import annotations

import re

LONGEST = 7
"""The maximum number of words of a reaction."""

_APPROVES = frozenset(
    """ok okay k kk fine good great nice cool perfect thx thanks ty lgtm works super awesome sweet neat lovely alright
    better agree agreed right correct excellent brilliant done
    gut prima genau perfekt passt danke klasse einverstanden okey
    merci parfait bien bon super génial accord
    gracias perfecto vale genial bueno
    obrigado obrigada perfeito ótimo legal valeu beleza""".split()
)
_FILLERS = frozenset(
    """this that the one it its is are was were looks look sounds sound seems work now all so far much very really pretty too
    for me to you a an s of job work well then here does do what think thoughts with i and
    das der die dies ist sind sieht aus so jetzt alles sehr viel für mich
    c est ça cela ce va tout très me pour moi d
    esto eso está es muy todo me parece así
    isso isto está é muito tudo assim para mim""".split()
)
_WORD = re.compile(r"[^\W_]+")


def is_reaction(text: str) -> bool:
    """Whether a sentence only approves, or a question only asks for approval: "Okay?"."""
    words = _WORD.findall(text.casefold())
    return (
        0 < len(words) <= LONGEST
        and not _APPROVES.isdisjoint(words)
        and all(word in _APPROVES or word in _FILLERS for word in words)
    )
