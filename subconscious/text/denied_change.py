"""Recognises sentences that deny a change: "nobody replaced X", "we decided against moving to Y"."""

from __future__ import annotations

import re


def denies_change(text: str) -> bool:
    """Whether a sentence says that something was not, or will not be, replaced, removed or abandoned.

    False for rules such as "never drop tables": they say what to do, not what happened.
    """
    return bool(_NO_CHANGE.search(text.replace("\u2019", "'")))


_STEM = r"(?:replac|switch|migrat|mov|drop|ditch|abandon|remov|retir|swap|leav)"
_CHANGE = rf"{_STEM}(?:es?|ed|ped|ing|ping)?\b"
_CHANGING = rf"{_STEM}p?ing\b"
_GOING_TO = r"(?:(?:going|about|planning|meant|supposed) to|plann?ed to|want(?:ed)? to)"
_HAVE_NOT = r"(?:\b(?:have|has|had|did|will|would|was|were)(?:n't| not| never)|'ve (?:not|never)|\bwon't|\bnever)"
_ARE_NOT = r"(?:(?:\b(?:am|are|is)|'re|'m|'s) (?:not|never)|\b(?:are|is)n't)"
_CHANGED_DE = r"(?:ersetzt|abgelöst|umgestiegen|gewechselt|migriert|umgezogen)\b"
_CHANGE_ROMANCE = r"(?:remplac|abandonn|migr|reemplaz|cambi|sustitu|abandon|troc|substitu|mud)\w+"
_NO_CHANGE = re.compile(
    "|".join(
        (
            rf"\b(?:nobody|no one|none of us) (?:\w+ )?{_CHANGE}",
            rf"\bagainst (?:\w+ ){{0,2}}?{_CHANGING}",
            rf"\bdecided not to (?:\w+ )?{_CHANGE}",
            rf"{_HAVE_NOT}(?: (?:yet|really|actually|been|ever|even))* {_GOING_TO} {_CHANGE}",
            rf"(?!\bnever){_HAVE_NOT}(?: (?:yet|really|actually|been|ever|even))* {_CHANGE}",
            rf"{_ARE_NOT} (?:{_CHANGING}|{_GOING_TO} {_CHANGE})",
            rf"\bniemand hat (?:\S+ ){{1,5}}?{_CHANGED_DE}",
            rf"\b(?:nicht|nie|niemals) (?:\w+ )?{_CHANGED_DE}",
            r"\bgegen (?:den|die|das|einen?) (?:wechsel|umstieg|ersatz|migration|umzug|ablösung)\b",
            rf"\b(?:personne n'a|n'(?:a|avons) (?:pas|jamais)|décid\w+ de ne pas) {_CHANGE_ROMANCE}",
            rf"\b(?:nadie|ninguém|decid\w+ n(?:o|ão)|no hemos) {_CHANGE_ROMANCE}",
        )
    ),
    re.IGNORECASE,
)
