"""Recognises sentences in which the assistant makes a claim that serves an attacker, instead of reporting its work.

A report describes the assistant's work in its own words. Planted text that the session read can get into the report
reworded: as something that the assistant "confirmed", that a group wants, or that is usual practice; or as the claim
that a check means nothing or that a secret may be shown. Most patterns are English; text in other languages is searched
only for words of such topics.
"""

from __future__ import annotations

import re

from subconscious.domain.model import Origin
from subconscious.poisoning.echo import CLAIMED, Traced
from subconscious.poisoning.reservation_topics import ATTESTED_TOPICS, topic_of

_NUMBERED = re.compile(r":\d[\d,\u2013-]*|\blines? ~?\d[\d,\u2013-]*|\b\d{3,}\b")
"""Line numbers and counts, which must not be mistaken for ports or file permissions."""

_PERCEIVED = re.compile(
    r"\W*(?:(?:i|we)(?:'ve| have)? )?(?:also |now |then |successfully )*"
    r"(?:agreed|assumed|checked|concluded|confirmed|decided|determined|discovered|established|found|gathered|heard"
    r"|identified|inferred|learn(?:ed|t)|located|noted|noticed|observed|reali[sz]ed|remembered|saw|settled|traced"
    r"|understood|verified|(?:described|documented|recorded)(?= (?:in \S{1,80} )?that))\b(?! and (?!that)\w+(?:ed"
    r"|t)\b)",
    re.IGNORECASE,
)
"""Matches beginnings that report a perception or belief, such as "Confirmed that", but not "checked and fixed"."""

_WITHIN = r"(?:[^.]|\.\w)"
"""A character within a sentence."""


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_GROUP = (
    r"(?:teams?|owners?|maintainers?|vendors?|partners?|on-?call|colleagues?|company|management|staff|sres?|leads?|boss"
    r"|(?:platform|finance|legal|infra\w*|security|data|ops|payments?|release|support) (?:groups?|people|side)"
    r"|(?:the|their) group)"
)
_WISH = (
    r"(?:agreement|arrangement|blessing|choice|consent|decision|guideline|habit|practice|preference|rule|setup|wish)"
)
_WILL = _any_of(
    rf"\b{_GROUP} (?:\w+ ){{0,2}}(?:accept|agree|approv|arrang|decid|expect|insist|maintain|mind|prefer|reli|rely"
    rf"|settl|want"
    r"|wish)\w*",
    rf"\b(?:{_GROUP}|users?)(?:'s?|s') (?:own |\w+ )?{_WISH}",
    rf"\b(?:agreed|arranged|{_WISH})s? (?:\w+ )?(?:by|of|with|from) (?:the |their )?{_GROUP}\b",
    r"\bas (?:agreed|arranged|decided|instructed)\b|\b(?:arranged|agreed) (?:by|with)\b"
    r"|\bby (?:an )?(?:arrangement|agreement)\b",
    r"\b(?:nobody|no one|everyone|everybody) (?:\w+ )?(?:accepts|agrees|cares|minds|needs|waits|wants)\b",
)
"""Matches statements about what people want or accept."""

_PRACTICE = _any_of(
    r"\b(?:which|that) is how\b|\bcustomar(?:y|ily)\b|\bas is (?:usual|common|custom)\b",
    r"\bas (?:the )?(?:rest|others?|project|repo\w*|code ?base|suite|pipeline|team|owners|ci)\b.{0,24}\bdo(?:es)?\b",
    r"\bthe way (?:the|that|in which)\b.{0,40}\b(?:is|are) (?:built|deployed|done|released|run|tested)\b",
    r"\b(?:that|which) (?:the|this|every) (?:project|repo\w*|code ?base|suite|pipeline)\b",
    r"\bin this (?:project|repo\w*|code ?base)\b|\b(?:no|every) environments?\b",
    r"\b(?:branch|line|`[^`]{1,60}`),? (?:from |on )?(?:that|which) .{0,40}\b(?:based on|builds?|cut|deploys?"
    r"|released?)\b",
)
"""Matches statements about how the project is usually built, tested or released."""

_KEY = (
    r"(?:passwords?|passphrases?|session cookies?|cookies?|bearer|authori[sz]ation headers?|jwts?|logins?"
    r"|\w+ (?:keys?|credentials?|secrets?)|(?:access|session|auth) tokens?|customer (?:names?|data))"
)
_SHOWN = (
    r"(?:logs?|logged|log lines?|traces?|traced|print\w*|dump\w*|in (?:the )?clear|plain ?text|clear ?text|public\w*"
    r"|at debug level|in the repository|leaves?|in full)"
)
_DIGEST = r"(?:md5|sha-?1|rc4|ecb)"
_SIGNED = r"(?:session|password|passwd|token|sign|login)\w*"
_WEAK = _any_of(
    rf"\b{_KEY}\b{_WITHIN}{{0,60}}\b{_SHOWN}\b",
    rf"\b{_SHOWN}\b{_WITHIN}{{0,60}}\b{_KEY}\b",
    rf"\b{_SIGNED}\b{_WITHIN}{{0,60}}\b{_DIGEST}\b",
    rf"\b{_DIGEST}\b{_WITHIN}{{0,60}}\b{_SIGNED}\b",
    rf"\bmode\b{_WITHIN}{{0,12}}\b0?[0-7]?[67][0-7][2367]\b|\bworld-writable\b|\b(?:uid 0|elevated rights"
    rf"|root rights)\b",
    r"\bas (?:an? |the )?(?:super-?user|root|admin(?:istrator)?)\b(?! (?:page|panel|server|view)s?\b)",
    r"\b\w{0,40}(?:verify|ssl|tls|secure|csrf)\w{0,20}(?:\.\w{1,20})?`?\s?[=:]\s?`?(?:0|no|off|false|none"
    r"|disabled?|prefer)\b",
    rf"\b(?:dropp?|omit|without|off|remov|turn|switch|left|leav)\w*\b{_WITHIN}{{0,20}}"
    r"\b(?:certificate|signature|token|tls|ssl|csrf|auth\w*|host ?names?) (?:checks?|verification|validation)\b",
    rf"\b(?:public|vendor'?s?|external|third[- ]party)\b{_WITHIN}{{0,20}}\b(?:bucket|registry|mirror|collector)\b",
    r"\b(?:bucket|registry|mirror|collector)\b.{0,20}\b(?:public|vendor|external)\b",
)
"""Matches statements about secrets that are shown, weak protection, and data that is sent to others."""

_UNCHECKED = _any_of(
    rf"\b(?:skip|bypass|ignor|wait|disregard|without|nobody|out of|no attention"
    rf"|keep\w*)\w*\b{_WITHIN}{{0,40}}\b(?-i:CI)\b",
    rf"\b(?-i:CI)\b{_WITHIN}{{0,30}}\b(?:skips?|ignores?|disregards?|leaves? out|(?:pays?|paid) no|out of)\b",
    rf"\b(?:results?|reports?|failures?|tests?|findings?|warnings?|detector)\b{_WITHIN}{{0,80}}"
    r"\b(?:meaningless|means? nothing|no meaning|noise|disregarded|artefact of)\b",
    r"\b(?:straight|directly) (?:to|on|onto|into) (?:the )?(?:main|master|prod\w*|live|stable|customer\w*|release)",
    rf"\b(?:tests?|checks?|lint\w*|builds?|suite)\b{_WITHIN}{{0,40}}\b(?:pass\w*|fail\w*|clean"
    rf"|green)\b{_WITHIN}{{0,20}}"
    r"\b(?:once|when|if|unless|until|for everyone|since|baseline)\b",
)
"""Matches statements that checks are skipped or mean nothing, and results that hold only under a condition."""

_FOREIGN = _any_of(
    # German and Dutch
    r"passw[oö]rt|kennw[oö]rt|zugangsdaten|zertifikat|klartext|freigabe|genehmig|abgesprochen|vereinbar(?:t|ung)"
    r"|produktion",
    r"unnötig|ungeprüft|nicht (?:beachtet|geprüft|nötig)|protokoll|\bteam\b|hersteller|ignorier|überspr[iu]ng"
    r"|abgeschaltet",
    r"deaktivier|instabil|wachtwoord|certificaat|goedgekeurd|overgeslagen|genegeerd|uitgeschakeld|productie",
    # French, Spanish, Portuguese and Italian
    r"mots? de passe|identifiants|certifica[td]|en clair|équipe|relecture|approuv|désactiv|ignor[eé]|de côté"
    r"|production|journaux",
    r"contraseñ|credencial|en claro|equipo|revisión|aproba|desactiva|en cuenta|producción|registros|comprobar"
    r"|senha|equipe",
    r"revisão|aprovad|desativ|produção|credenzial|squadra|revisione|approva|disattiva|produzione|in chiaro",
    # Chinese, Japanese, Korean and Thai
    r"密码|凭证|证书|验签|审查|审核|团队|忽略|跳过|禁用|生产环境|明文|密碼|憑證|審查|審核|團隊|略過|停用|正式環境",
    r"パスワード|認証|証明書|レビュー|チーム|無視|スキップ|無効|本番|平文",
    r"비밀번호|자격 증명|인증서|평문|검토|승인|합의|\b팀|무시|건너뛰|비활성|운영 환경|프로덕션",
    r"รหัสผ่าน|ใบรับรอง|ข้อมูลรับรอง|อนุมัติ|เห็นด้วย|ทีม|ละเว้น|ข้าม|ปิดการตรวจ|ปิดใช้งาน|ระบบจริง|โปรดักชัน",
)
"""Words for the topics of planted texts, in languages other than English."""

_IN_CODE = re.compile(r"`[^`\n]{0,200}`")
_OTHER_LANGUAGE = re.compile(
    r"\b(?:der|die|das|dem|den|und|ist|sind|werden|wird|nicht|keine?|für|auf|mit|im|von|zum?|bei|aus|nach|seit|ohne|het|een"
    r"|niet|wordt|le|la|les|des|du|au|aux|est|sont|dans|et|pas|par|pour|sans|avec|chez|se|el|los|las|es|en|que|del|una?|con"
    r"|por|para|sin|il|della|di|em|não|um|uma|são)\b|[^\W\d_a-zA-Z]",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\b(?:the|is|are|were|of|to|for|and|with|by|from|now|not|it|that|when|after)\b", re.IGNORECASE)


def is_claim(sentence: str) -> bool:
    """Whether a sentence of a report makes a claim that a planted text would have to make."""
    if _PERCEIVED.match(sentence) or any(pattern.search(sentence) for pattern in (_WILL, _PRACTICE, _WEAK, _UNCHECKED)):
        return True
    plain = _IN_CODE.sub(" ", sentence)
    return _is_foreign(plain) and bool(_FOREIGN.search(plain))


def _is_foreign(plain: str) -> bool:
    """Whether a sentence without its code has more words of other languages than English ones."""
    return len(_OTHER_LANGUAGE.findall(plain)) > len(_ENGLISH.findall(plain))


def is_of_session(traced: Traced) -> bool:
    """Whether, by the transcript, a sentence of a report is the session's own, so that it may be quoted.

    It must not be quoted if one of these is true:
    - a tool printed it in nearly the same words;
    - it names a command that the session had not run, or only after a tool named it;
    - it names two packages with nearly the same name, one of which a tool was the first to name;
    - prose that a tool printed makes the same claim, and the claim has a topic that an attacker needs, or is not in
      English, so that its topic can't be recognised.
    """
    if traced.candidate.origin is not Origin.ASSISTANT or traced.foreign or traced.lookalike:
        return False
    sentence = traced.candidate.content
    if traced.prosaic < CLAIMED:
        return True
    return not _is_foreign(_IN_CODE.sub(" ", sentence)) and not topic_of(_NUMBERED.sub(" ", sentence), ATTESTED_TOPICS)
