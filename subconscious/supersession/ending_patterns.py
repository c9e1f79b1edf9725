"""Patterns of sentences that end a statement: "drop the rule about X", "we moved off X", "the freeze is over"."""

from __future__ import annotations

import re
from enum import StrEnum


class End(StrEnum):
    """The ways in which a sentence ends a statement."""

    LAST = "last"
    """Ends the last statement: "scrap that"."""
    NAMED = "named"
    """Ends statements about a topic: "drop the rule about X"."""
    DENIED = "denied"
    """Ends the statement that demands something: "no need to do X any more"."""
    ALLOWED = "allowed"
    """Ends the statement that forbids something: "you can touch X again"."""
    LEFT = "left"
    """Ends the statement that chooses something: "we moved off X"."""
    OVER = "over"
    """Ends temporary statements: "the migration is done"."""


_THING = (
    r"(?:rule|decision|convention|policy|requirement|restriction|constraint|guideline|freeze|ban|instruction|"
    r"preference|agreement|thing|stuff|bit|part|point|idea|plan|Regel|Entscheidung|Vorgabe|Sache|r[eè]gle|"
    r"d[eé]cision|regla|decisi[oó]n|norma|regra|decis[aã]o)s?"
)
_RULE = (
    r"(?:rule|decision|convention|policy|requirement|restriction|constraint|guideline|freeze|ban|instruction|"
    r"preference|agreement|Regel|Entscheidung|Vorgabe|r[eè]gle|d[eé]cision|regla|decisi[oó]n|norma|regra|decis[aã]o)s?"
)
_THAT = (
    r"(?:that|this|it|all that|the last (?:one|thing|bit|part)|what i (?:just )?said|my last \w+|das|ça|cela|eso|isso)"
)
_ABOUT = (
    r"(?:about|on|regarding|re|with|for|concerning|around|against|of|to|that|saying|über|ueber|zu|zum|zur|mit|von|"
    r"sur|à propos d[eu]|au sujet d[eu]|sobre|acerca de|de|da|do|del|con|com)"
)
_UNSAY = r"(?:forget|scrap|scratch|disregard|strike|never ?mind|nvm|ditch|toss|throw out|vergiss|streich\w*|oublie\w*|laisse tomber|olvid\w+|esque[cç]\w+)"
_TAKE_BACK = rf"(?:{_UNSAY}|drop|remove|lift|cancel|ignore|undo|revert|retire|kill|nix|reverse|delete|withdraw|relax|abandon|stop following|lösch\w*|verwirf|vergesst|supprime\w*|annule\w*|quita\w*|elimina\w*|cancela\w*|remove\w*|tira\w*)"
_SECOND_THOUGHTS = r"(?:(?:actually|no|nah|nope|wait|hold on|oh|doch|ach|non|mejor)\b[,.!]* )*"
_MISTAKE = r"(?:(?:that|this|it) (?:was|is) (?:wrong|a mistake|nonsense)|i was wrong|my (?:mistake|bad)|das war falsch)\b[,.!:-]* "
_ABOLISHED = (
    r"(?:off the table|void|moot|history|dead|cancel+ed|dropped|lifted|repealed|suspended|obsolete|"
    r"vom tisch|hinf[aä]llig|aufgehoben|annul[ée]+e?|caduque|anulad[ao]|cancelad[ao])"
)
_END = r"(?=\s*(?:please|again|entirely|completely|altogether|for good|bitte)?\s*(?:[.,!;:-]|$))"


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


_EAST_ASIAN = (
    (
        End.OVER,
        _pattern(
            r"^(.+?)[はがも](?:昨日|今日|先週|今朝|もう|やっと|無事に?|全部)*(?:終わった|終わりました|終了|完了|済んだ|済みました|"
            r"復旧|直った|直りました|戻った|戻りました)"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(r"^(.+?)(?:已经|已|都|终于|昨天|今天)*(?:结束了|完成了|搞定了|做完了|修好了|恢复了|回来了|过去了)"),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(.+?)(?:という|の)?(?:ルール|規則|決まり|件|話)?(?:は|を|も)?(?:もう)?(?:要らない|いらない|不要になった|必要ない|"
            r"必要なくなった|廃止|忘れて|撤回|取り消し|なしで|やめよう|やめます|やめて|やめた)"
        ),
        True,
    ),
    (End.NAMED, _pattern(r"^(?:关于)?(.+?)的?(?:规则|规定|要求|约定|事)(?:作废|取消|不用了|算了|废除)"), True),
    (End.DENIED, _pattern(r"^(?:以后)?(?:不用再|不需要再|不必再)(.+)"), True),
)
"""Common endings in Japanese and Chinese, which put no spaces between words."""

PATTERNS: tuple[tuple[End, re.Pattern[str], bool], ...] = (
    (
        End.OVER,
        _pattern(
            r"^(?:(?:it's |we have )?(?:a |the )?new|neuer|neue|neues|nouvelle|nouveau|nuev[oa]|nov[oa]) "
            r"(sprint|iteration|cycle|week|month|quarter|woche|monat|quartal|semaine|mois|trimestre|mes|mês|semana)"
            r"(?= (?:started|begins|begun|is here|has)\b|\W*$|\s*[.,;:!])"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(r"^(semana|mes|mês|sprint|trimestre) (?:nuev[oa]|nov[oa])\b"),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"\b{_TAKE_BACK} (?:about )?(?:what(?:ever)?|everything|anything|all) (?:i|we) (?:\w+ )?"
            rf"(?:said|told you|wrote|mentioned|decided|agreed)(?: \w+)?? {_ABOUT} (.+)"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"\bvergiss,? was (?:ich|wir) (?:\w+ )?(?:über|ueber|zu|zum|zur|von) (.+?) "
            r"(?:gesagt|geschrieben|entschieden|beschlossen|meinte)\w*"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"\b(?:oublie\w*,? (?:tout )?ce que j'ai dit|olvid\w+ lo que (?:te )?dij\w+|"
            rf"esque[cç]\w+ o que (?:eu )?(?:te )?(?:disse|falei)) {_ABOUT} (.+)"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"^what (?:i|we) (?:said|told you|wrote|mentioned|decided|agreed)(?: \w+)?? {_ABOUT} (.+?)"
            r" (?:(?:doesn't|does not|don't|do not|isn't|is not) (?:matter|apply|count|hold|true|valid)(?: any ?more| any longer)?"
            r"|no longer (?:matters|applies|counts|holds)|(?:is|was) (?:now )?(?:wrong|moot|void|history|obsolete|off))\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(?:(?:das|die sache) mit (?:den |dem |der )?(.+?) (?:gilt|zählt|stimmt|passt) (?:ab jetzt |jetzt |so )?nicht mehr"
            r"|(?:lo|eso) de (?:los |las |la |el )?(.+?) ya no (?:vale|aplica|cuenta|sirve|hace falta|es necesario)"
            r"|(?:a regra|isso|aquilo) d(?:e|os|as|o|a) (.+?) (?:já )?não (?:vale|conta|serve|é preciso)(?: mais)?"
            r"|(?:la règle|le truc|l'histoire) d(?:e la|es|u|e) (.+?) (?:ne )?(?:vaut|compte|tient|s'applique) plus)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(rf"^(?:the |that |our |my )?(.+?)[ -]{_RULE} (?:isn't|is not) (?:really )?a thing any ?more\b"),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"^(?:the |that |our |my )?(.+?)[ -]{_RULE} ?[-:,\u2013\u2014] ?(?:just )?"
            r"(?:delete|remove|kill|drop|scrap|ditch|lose|forget|ignore) (?:it|that)\b"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"^(?:(?:we|you|i) )?(?:don't|do not) (?:need|want) (?:those |these |the |that |any )?(.+?) from now on\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"\b{_TAKE_BACK} (?:about )?(?:the|that|this|our|my|those|die|das|den|la|le|el|a|o|las|los|les) (?:whole |old |earlier |"
            rf"previous |entire )*{_THING} {_ABOUT} (.+)"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"\b{_TAKE_BACK} (?:about )?(?:the|that|our|my|those|die|das) ((?:[\w./'-]+ ){{1,4}}?)(?:{_RULE}|thing|stuff)\b"
        ),
        True,
    ),
    (End.NAMED, _pattern(rf"^no more (?:of )?(?:the |that |our |this )?(.+?)[ -]{_RULE}\b"), True),
    (
        End.NAMED,
        _pattern(
            rf"^(?:the |that |our |my |those )?(.+?)(?:[ -]{_THING})? (?:doesn't|does not|don't|do not|isn't|is not|aren't|are not)"
            r" (?:apply|count|valid|in force|needed|required|necessary|mandatory|a must)\b[^.;]*?"
            r"\b(?:any ?more|any longer|after all|now)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"^(?:the |that |our |my )?(.+?)[ -]{_RULE} (?:has been |was |got )?(?:lifted|dropped|cancel+ed|repealed|scrapped)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"\b(?:i|we)(?:'ll)? take back (?:the |that |my |our )?(?:{_THING} {_ABOUT} |what (?:i|we) said {_ABOUT} )?"
            rf"(.+?)(?:[ -]{_THING})?\W*$"
        ),
        True,
    ),
    (End.NAMED, _pattern(r"\bchanged (?:my|our) minds? (?:about|on|regarding) (?:the |that )?(.+)"), True),
    (
        End.NAMED,
        _pattern(
            r"^(?:let's|lets) not (?:do |use |have |write |add |keep )?(?:the |that )?(.+?) after all(?=\W*$|[.,!;])"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(r"^no need (?:to|for) (.+?) (?:any ?more|any longer|after all)\b"),
        True,
    ),
    (
        End.DENIED,
        _pattern(r"^(?:please )?(?:skip|omit|leave out|drop) (?:the )?(.+?) from now on\b"),
        True,
    ),
    (
        End.DENIED,
        _pattern(r"\b(?:don't|do not|doesn't|does not|needn't)(?: (?:need|have|want))?(?: to)? (?=(.+?) after all\b)"),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(
            r"(?:^|[,;.] )([^,;.]+?) (?:is|are) (?:(?:back to )?normal|accessible|available|allowed|fine|ok|okay|permitted|possible)"
            r" (?:again|after all)\b|(?:^|[,;.] )([^,;.]+?) (?:is|are) (?:back to normal|(?:allowed|permitted) now)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(?:the |that |those |these |our |my )?(.+?) (?:has|have|was|were|got|is|are)(?: been)? (?:withdrawn|revoked|"
            r"rescinded|scrapped|abolished|overturned|called off|taken back)\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"^(?:the |that |our |my |die |das |la |el |a )?(.+?)[ -]{_THING} (?:is|are|was|were|ist|est|es) (?:now |all )?"
            rf"{_ABOLISHED}\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            rf"^(?:the |that |our |my |die |das |la |le |el |a |o )?(?:whole |old )?{_RULE} {_ABOUT} (.+?) "
            rf"(?:is|are|was|were|ist|est|es|é|está) (?:now |all )?{_ABOLISHED}\b"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(?:the |that )?(.+?) (?:was|were) (?:only |just )?an? (?:stupid|bad|dumb|silly|terrible|failed)? ?"
            r"(?:idea|experiment|mistake)\b"
        ),
        True,
    ),
    (
        End.LAST,
        _pattern(rf"^{_SECOND_THOUGHTS}{_MISTAKE}(?:{_UNSAY}|ignore|drop)(?: about)? {_THAT}{_END}"),
        True,
    ),
    (
        End.NAMED,
        _pattern(
            r"^(?:the |that )?(?!(?:no|nah|ok|well|so|it|that|this|wait|hold on|actually)\b)(.+?)(?: thing)? ?[-:,\u2013\u2014] ?(?:disregard|forget|ignore|scrap|drop) ?(?:it|that|this)?\W*$"
        ),
        True,
    ),
    (
        End.NAMED,
        _pattern(rf"^{_SECOND_THOUGHTS}(?:forget about|disregard|nevermind) (?!{_THAT}\b|what)(?:the |that )?(.+)"),
        True,
    ),
    (
        End.DENIED,
        _pattern(r"^(?:so |and )?no more (.+?)(?= (?:please|pls|since|because|from)\b|[,;.:!]|$)"),
        True,
    ),
    (
        End.LAST,
        _pattern(rf"^{_SECOND_THOUGHTS}{_TAKE_BACK} (?:that|this|the|the last|my last|our last|diese) {_RULE}\b"),
        True,
    ),
    (End.LAST, _pattern(rf"^{_SECOND_THOUGHTS}{_UNSAY}(?: about)? {_THAT}{_END}"), True),
    (
        End.LAST,
        _pattern(
            rf"^{_SECOND_THOUGHTS}(?:i take (?:that|it) back|never ?mind|nvm|forget it|scratch that|doch nicht|lieber doch nicht|"
            r"laisse tomber|mejor no|deixa pra lá|deixa para lá|d[eé]jalo)" + _END
        ),
        True,
    ),
    (
        End.LAST,
        _pattern(r"^(?:actually,? no|no,? actually|no,? wait|on second thou?ghts?(?:,? no)?)\W*$"),
        True,
    ),
    (
        End.LAST,
        _pattern(rf"^{_SECOND_THOUGHTS}(?:undo|revert|cancel|drop|ignore) {_THAT}{_END}"),
        False,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:you can |we can |please )?(?:use|take|go|switch|be|we're)?\s?(?:back to )?(?:the |our )?"
            r"(?:real|normal|usual|regular|proper|original) (.+?) (?:again|is back)\b"
        ),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(
            r"\b(?:(?:you|we|i) (?:can|may|are (?:free|allowed) to|could)|(?:it's|it is) (?:ok|okay|fine|allowed) to|"
            r"feel free to|(?:du|ihr|wir) (?:darfst|dürft|dürfen|kannst|könnt|können)|tu peux|vous pouvez|on peut|puedes|podemos|"
            r"(?:você )?pode(?:mos)?) (.+?) (?:again|now again|wieder|de nouveau|à nouveau|otra vez|de nuevo|de novo|outra vez)\b"
        ),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(r"\b(?:tu peux recommencer à|puedes volver a|pode(?:mos)? voltar a|(?:we|you)'re back to) (.+)"),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(r"^(.+?) (?:is|are) (?:allowed|fine|ok|okay|permitted|possible|open|enabled) again\b"),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:we|i|they|the team|ops)(?:'ve| have|'re| are)?(?: \w+ly| now| just| finally| all| since)* "
            r"(?:(?:moved|migrated|switched|come|gotten|got|gone) (?:\w+ )?(?:off(?: of)?|away from|from)|off(?: of)?|"
            r"(?:dropped|ditched|abandoned|killed|retired|removed|got rid of|gotten rid of|thrown out|threw out|"
            r"replaced|decommissioned|sunset|left|deprecated|uninstalled)|done with|stopped using|no longer use|quit using) "
            r"(.+?)(?= (?:to|in favou?r of|and|last|yesterday|today|this|with|by|completely|entirely|for good|a \w+ ago)\b|[,;.:!]|$)"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:we|i|the team) (?:don't|do not) (?:use|run|have|need|support|do) (.+?) (?:any ?more|any longer|now)\b"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:(?:wir sind|sind wir)(?: \w+){0,2}? von (.+?) (?:weg|auf .+? (?:umgestiegen|gewechselt|umgezogen|migriert))"
            r"|(?:wir haben|haben wir)(?: jetzt| nun)? (.+?) durch .+? (?:ersetzt|abgelöst)"
            r"|statt (.+?) (?:nutzen|benutzen|verwenden|nehmen|haben) wir)\b"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:(?:on est|nous sommes) passée?s? de (.+?) (?:à|vers)|(?:on a|nous avons) remplacé (.+?) par"
            r"|(?:hemos )?(?:pasa(?:do|mos)|cambia(?:do|mos)|migra(?:do|mos)) de (.+?) a"
            r"|(?:hemos )?(?:reemplaza|cambia|sustitui)(?:do|mos) (.+?) por"
            r"|(?:mudamos|migramos|passamos) d[eoa] (.+?) para|(?:trocamos|substituímos) (.+?) por)\b"
        ),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(
            r"^(?:(.+?) (?:ist|sind) (?:jetzt |ab jetzt |nun )?(?:(?:doch|wieder|doch wieder|jetzt) (?:erlaubt|zulässig)|doch (?:okay|ok))"
            r"|(.+?) (?:darf|dürfen|kann|können) (?:man|wir|ihr) (?:(?:jetzt |doch )?wieder|jetzt doch)"
            r"|(.+?) (?:est|sont) (?:finalement|de nouveau|à nouveau|maintenant|désormais) (?:autorisée?s?|permise?s?)"
            r"|(.+?) (?:ya|vuelven? a|ahora sí) (?:está|están|estar) permitid[oa]s?"
            r"|(.+?) (?:voltou a ser|agora é|já é) permitid[oa]s?)\b"
        ),
        True,
    ),
    (
        End.ALLOWED,
        _pattern(
            r"^(?:(?:in|on|at|for) [^,;.]+?,? )?(?:you|we|u) (?:can|may|are allowed to) (?:(?:now )?use (.+?) (?:after all|now)"
            r"|(?:do |have )?(.+?) after all)(?=\W*$|[,;.!])"
            r"|^(.+?) (?:is|are) (?:(?:fine|ok|okay) after all|(?:allowed|permitted) (?:now|after all))(?=\W*$|[,;!])"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"\b(?:wir (?:nutzen|benutzen|verwenden|haben) (.+?) nicht mehr|wir sind (?:weg )?von (.+?) weg|"
            r"on n'utilise plus (.+)|nous n'utilisons plus (.+)|ya no (?:usamos|tenemos) (.+)|"
            r"(?:já )?não usamos mais (.+)|já não usamos (.+))"
        ),
        True,
    ),
    (
        End.LEFT,
        _pattern(
            r"^(?:the |our |das |die |der |el |la |le |o |a )?(.+?) (?:is|are|was|were|has been|have been|ist|sind|wurde|est|"
            r"está|fue|foi) (?:now |finally |all |completely |already |endlich |jetzt )*(?:gone|dead|retired|decommissioned|"
            r"shut ?down|deprecated|history|removed|obsolete|no more|switched off|turned off|deleted|weg|abgeschafft|"
            r"abgeschaltet|entfernt|supprimée?|eliminad[oa]|removid[oa])\b"
        ),
        False,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our |please |turn )?(.+?) (?:is |are )?(?:now )?(?:back on|on again|back in|switched on again|wieder an)\b"
            r"([^,;.!]*)"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our |die |das |der |le |la |el |o |a )?(.+?)(?:'s| is| are| has| have| ist| sind| est| está| ha| ya)? "
            r"(?:now |finally |endlich |enfin |ya |já )?(?:back(?: from .+)?|returned(?: from .+)?|"
            r"(?:up|here|online|stable|healthy|available|reachable|working|works?|runs?|running|in) again|"
            r"funktionier\w+ wieder|läuft wieder|geht wieder|(?:re)?(?:marche|fonctionne)(?: de nouveau| à nouveau)?|"
            r"(?:volvió a funcionar|funciona de nuevo|funciona otra vez)|zurück|wieder (?:da|oben|erreichbar|stabil)|"
            r"de retour|revenue?s?|vuelto|de vuelta|volvió|voltou|de volta|no ar)\W*(?:$|[,;.!])"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our |we (?:have |'ve )?(?:finished|completed|shipped|released|merged|done)(?: with)? |das |die |der |el |la |le |o |a )?"
            r"(.+?)(?:'s| is| are| was| has| have| ist| sind| est| se| foi| ha)?(?: been| now| finally| all| officially| endlich| jetzt)* "
            r"(?:over|lifted|ended|finished|complete|completed|done|released|shipped|merged|(?<!on )out|live|closed|"
            r"through(?=\W*$|\s*[,;.!])|"
            r"behind us|vorbei|zu ende|beendet|erledigt|abgeschlossen|fertig|aufgehoben|terminée?s?|finie?s?|acab[oó]u?|termin[oó]u?|"
            r"terminad[oa]|finalizad[oa]|levantad[oa])\b(?! (?:of|the|a|for|to|with|by))"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:the |our )?(.+?) (?:is|are|was|were|has been|have been|got|gets) (?:now |finally |all )*\w+ed\b"
        ),
        True,
    ),
    (
        End.OVER,
        _pattern(
            r"^(?:we(?:'ve| have)? |i(?:'ve| have)? )?(?:just )?(?:finished|completed|shipped|released|merged) (?:the |our )?(.+)"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"^(?:das mit |die sache mit )?(?:den |dem |der |die |das )?(.+?) (?:brauch|muss|müss|soll)\w* "
            r"(?:du|ihr|wir|man) (?:wirklich |jetzt |ab jetzt )?nicht mehr\b"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"\b(?:plus besoin d(?:e |')|plus la peine d(?:e |')|ya no hace falta (?:que )?|no hace falta (?=.+ más\b)|"
            r"(?:já )?não (?:precisa|é preciso) mais (?:de )?)(.+?)(?=[,;.!]|$)"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"\b(?:no longer|not any ?more|nicht mehr|não \w+ mais|ya no|ne (?=.* plus\b)|n'(?=.* plus\b))"
            r"(?: (?:needs?|have|has|need|must|required?|do|does)(?: to(?: be)?)?)?"
        ),
        True,
    ),
    (
        End.DENIED,
        _pattern(
            r"\b(?:(?:you|we|i|they|it) )?(?:don't|do not|doesn't|does not|needn't|aren't|isn't|stop)"
            r"(?: (?:need|have|bother|has)(?: to)?)? (?=(.+?) (?:any ?more|any longer)\b)"
        ),
        True,
    ),
    (End.DENIED, _pattern(r"^(.+?) (?:any ?more|any longer)\W*$"), False),
    (End.DENIED, _pattern(r"\byou (?:don't|do not) (?:need|have) to (.+)"), True),
    (
        End.DENIED,
        _pattern(r"\b(?:you|we|they) (?:can|may) (?:now )?(?:stop|quit|skip) (\w+ing\b.*)"),
        True,
    ),
    (End.DENIED, _pattern(r"^(?:please )?stop (\w+ing .+)"), False),
    *_EAST_ASIAN,
)
"""In order of priority: what a match ends, the pattern, and the value of ``Ending.sure`` for a match."""
