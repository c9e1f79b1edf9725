"""Function words of languages other than English, and words such as "yes"; they say nothing about a query's subject.

In a store of mostly English memories such words are rare, so full-text search would rank them above words about the
subject. Many of them are also English words or names ("die", "du", "en"). So a language's function words count only if
the text has one of three or more letters that is not also an English word.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from subconscious.text.vocabulary import FILLERS

_WORD = re.compile(r"[^\W\d_]+")

_WORDS = (
    # German
    """aber alle als am an auch auf aus bei beim bis da damit dann das dass dem den denn der des dich die dies diese
    diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es euch für gegen gibt hab habe
    haben hat hatte hier ich ihm ihn ihr ihre im in ist ja jede jeder jedes jetzt kann kannst können könnte lassen mal
    man mein meine mich mir mit muss müssen nach nicht noch nun nur ob oder ohne schon sein seine sich sie sind so soll
    sollen sollte sollten über um und uns unser unsere unter vom von vor wann war waren warum was weil welche welchem
    welchen welcher welches wenn wer werden weshalb wie wieder wieso wir wird wo woher wohin wollen worden wurde würde
    zu zum zur""",
    # French
    """ai au aux avec avons ce ces cet cette comme comment dans de des du donc elle elles en est et eux fait faut il ils
    je la le les leur leurs lui ma mais me mes mon ne nos notre nous on ont ou où par pas plus pour pourquoi qu quand
    que quel quelle quelles quels qui sa sans se ses si son sont sur ta te tes toi ton tous tout toute tu un une vos
    votre vous""",
    # Spanish
    """al algo como con cómo cuál cuales cuáles cuando cuándo de del desde donde dónde el ella ellos en entre era es esa
    ese eso esta está estaba están estas este esto estos fue ha han hasta hay hemos la las le les lo los más me mi mis
    muy nada no nos nosotros o para pero por porque pues qué que quién se ser si sin sobre son su sus también te tiene
    tu un una unas uno unos usted y ya yo""",
    # Portuguese
    """ao aos as com como da das de dele depois do dos é ela ele eles em entre era essa esse esta está estamos este eu
    foi há isso isto já lhe mais mas me meu minha muito na não nas nem no nos nós nossa nosso o onde os ou para pela
    pelo por porque qual quais quando que quem se sem ser seu sua são também te tem um uma vocês você""",
    # Italian
    """ai al alla alle anche che chi ci come con cosa da dal dalla degli dei del della delle di dove e è gli hanno ho i
    il in io la le lo loro ma mi mia mio ne nei nel nella non noi nostra nostro o per perché più qual quale quali quando
    quello questa queste questi questo se si sono su sua sul sulla suo ti tra tu un una uno vi voi""",
    # Dutch
    """aan als bij dan dat de deze die dit doen door een en er geen heb hebben heeft het hoe hun ik in is je jij jullie
    kan kunnen maar me met mijn moet moeten na naar niet nog nu of om onder ons onze ook op over te toch tot uit van
    veel voor waar waarom wanneer want was wat we welke wel werd wie wij worden wordt zal ze zich zij zijn zo zou""",
)

_ALSO_ENGLISH = frozenset(
    """als come comment con com das dat dem den der des die dies dit door dos dove era fait han hat hun kan mal man
    mas met mia mir mit mon non nos nun onder over par pas per plus pour sans sin son sont sub sur ton tout una van want
    war was wat we were zou""".split()
)
"""Words of at least three letters that are also words, names or abbreviations in English or in code."""

SHORTEST_SIGN = 3
"""The fewest letters of a word that shows a text's language: shorter ones are often abbreviations."""

_LANGUAGES = tuple(frozenset(words.split()) for words in _WORDS)
FUNCTION_WORDS = frozenset().union(*_LANGUAGES)
"""The function words of all these languages."""
_SIGNS = tuple(
    frozenset(word for word in words if len(word) >= SHORTEST_SIGN and word not in _ALSO_ENGLISH)
    for words in _LANGUAGES
)


def function_words(words: Collection[str]) -> frozenset[str]:
    """Return those of a text's words, in lower case, that are function words of a language that the text shows."""
    found = frozenset(words)
    return frozenset(
        word for language, signs in zip(_LANGUAGES, _SIGNS, strict=True) if found & signs for word in found & language
    )


REPLIES = frozenset(
    """alright bitte danke gracias grazie ja jawohl jep klar merci nah nee nein nope não obrigada obrigado ok okay okey
    oui plait plaît please pls plz sí sure thanks thx yeah yep yes yup""".split()
)
"""Words of answers in several languages. They are ignored in a query that has other words."""

_ALSO_REPLIES = frozenset(
    """accord agreed ahead approved bem bien bom bueno certo claro cool correct done exactly exakt favor fine genau go
    good great gut lgtm looks mach machen nice parfait passt perfect perfecto perfeito perfekt right richtig si sim
    sounds stimmt super thank that tá vale vas wait""".split()
)
"""Words that are answers only in a prompt without other words. Elsewhere they may be names, such as Go or Vale."""


def only_replies(words: Collection[str]) -> bool:
    """Whether a text is only an answer such as "yes please"; ``words`` are in lower case and without stop words."""
    return set(words) <= REPLIES | _ALSO_REPLIES | FUNCTION_WORDS


def is_english(text: str) -> bool:
    """Whether a text has no more function words of other languages than of English."""
    words = _WORD.findall(text.casefold())
    return len(function_words(words)) <= len(set(words) & FILLERS)
