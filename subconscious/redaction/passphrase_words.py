"""Words by which sentences about passwords are told from passphrases, in several languages."""

from __future__ import annotations

import re

from subconscious.text.terms import STOP_WORDS
from subconscious.text.vocabulary import IMPERATIVES, IRREGULAR


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION = STOP_WORDS | _set(
    "always already another anything because cannot cant can't don't doesn't isn't wasn't won't either ever every"
    " everyone everything except however instead it's maybe must neither never nobody nothing one's per perhaps please"
    " quite rather since someone something somewhere soon still sometimes than that's there's today tomorrow tonight"
    " unless upon via whatever whenever wherever whether within without yes yesterday yet may might shall els sure ok"
    # German
    " aber alle als am auch auf aus bei beim bis bitte damit dann das dass dem den denn der des diese dieser dieses doch"
    " durch ein eine einem einen einer erst es für gegen hier ich ihr im immer ist jede jeder jetzt kann kein keine"
    " mehr mein mit muss nach nicht nichts noch nur oben ob oder ohne schon seit sehr sein sich sie sind so sollte über"
    " und uns unser unter viel vom von vor wegen weil wenn werden wie wieder wird wir wo wurde zu zum zur zwischen"
    # French
    " à au aucun aussi aux avec car ce cette ces chez comme contre dans de des donc du elle en encore est et il ils"
    " jamais je la le les leur lors lui mais me mes moins mon ma ne nos notre nous ou où par pas plus pour près qu"
    " quand que qui quoi sa sans se ses si sont sous sur ta te toujours tous tout toute trop très un une vers votre vos"
    " vous y c'est n'est"
    # Spanish, Portuguese, Italian
    " al algo antes ao aos as até cada como con contra cual da das de del della delle demasiado demás depois desde"
    " di do dos e el ella em en entre era es essa esse esta está estão este esto eu fue gli hasta hay il in isso la"
    " las lo los mas más meu mi minha molto muy muito muita na nas nel nella no non não nos nunca o os otra ou para"
    " pela pelo per pero però poco pois por porque pra qual que qué se sem sempre si siempre sin sob sobre sono"
    " su sua sul sulla también também tem tiene todo todos troppo tudo tu un una uma um unos y ya yo já é è"
    # Dutch, Polish, Scandinavian, Russian
    " aan al alleen altijd bij dan dat de deze dit een en geen had heeft het hun ik jij maar met mijn naar niet nog nooit"
    " om omdat onder ons ook op over sinds te tegen tot uit van veel voor waar wat weer werd wie worden wordt zich zijn zo"
    " zonder ale by byl dla do ich ja jak jako jest już każdy lub ma między na nad nie oraz pod po przed przez przy"
    " się są tak też to tylko u w we więc z za zbyt ze że alla att av den det efter ett för från hos icke ikke"
    " inte jag med men när och og på som till til utan var vi ved är eller \u0431\u0435\u0437 \u0431\u044b\u043b \u0432 \u0432\u043e \u0434\u043b\u044f"
    " \u0434\u043e \u0435\u0433\u043e \u0435\u0449\u0435 \u0435\u0441\u043b\u0438 \u0438 \u0438\u0437 \u0438\u043b\u0438 \u043a \u043a\u0430\u043a \u043d\u0430 \u043d\u0435 \u043d\u0435\u0442 \u043d\u043e"
    " \u043e \u043e\u0442 \u043f\u043e \u043f\u0440\u0438 \u0441 \u0441\u043b\u0438\u0448\u043a\u043e\u043c \u0442\u043e\u043b\u044c\u043a\u043e \u0443 \u0443\u0436\u0435 \u0447\u0442\u043e \u044d\u0442\u043e"
)
"""Words with hardly a meaning of their own, without those that are nouns or adjectives in another of the languages."""

SUBJECT = re.compile(
    r"(?:pass?w\w{1,6}|passwort\w*|pass(?:code|phrase)s?|kennwort\w*|mot|contrase\S*|senhas?|wachtwoord\w*|hasł\w+"
    r"|pwd?|log(?:in|out|ged|ging)s?|sign(?:in|up|ed)|auth\w*|acc?ounts?|users?|usernames?|admins?|accounts?|emails?|e-?mail"
    r"|credentials?|creds|secrets?|tokens?|api|apis|hash\w*|salt(?:ed)?|bcrypt|argon\w*|sha\d\w*|md5|encrypt\w*|decrypt\w*"
    r"|plain(?:text)?|cipher\w*|vaults?|[a-z\d]*1password|bitwarden|keepass\w*|lastpass|keychain|keyring|env|environ\w*"
    r"|variables?|vars?|configs?|configur\w*|settings?|parameters?|params?|args?|arguments?|flags?|options?|optional\w*"
    r"|defaults?|values?|strings?|str|boolean|bool|null|none|nil|undefined|true|false|empty|blank|placeholders?|examples?"
    r"|fields?|inputs?|forms?|prompt(?:s|ed|ing)?|labels?|buttons?|columns?|tables?|rows?|types?|typed|files?|paths?|repo\w*"
    r"|databases?|servers?|clients?|requests?|responses?|endpoints?|urls?|https?|uris?|headers?|bod(?:y|ies)|json|yaml|yml"
    r"|toml|docker\w*|kubernetes|k8s|kubectl|npm|npx|pnpm|yarn|psql|pytest|git|github|gitlab|curl|sudo|ssh|sshd?|pip|uv"
    r"|characters?|chars?|letters?|digits?|symbols?|lengths?|bytes|bits|minimum|maximum|min|max|least|words?|base\d+|encod\w+|strength|weak\w*"
    r"|polic(?:y|ies)|requirements?|requir\w+|rules?|valid\w*|invalid\w*|incorrect\w*|wrong\w*|match(?:es|ed|ing)?|mismatch\w*"
    r"|reset\w*|rotat\w+|expir\w+|chang(?:e|es|ed|ing)|updat\w+|generat\w+|stor(?:ed|age|ing)|saved|hidden|masked|redacted"
    r"|enter|provide\w*|submit\w*|confirm\w*|verif\w*|repeat\w*|forgot\w*|forgotten|remember\w*|missing|failed|failure|errors?"
    r"|sensitive|insecure|secure[dy]?|security|protect\w*|policy|managers?|team|teams|company|production|prod|staging"
    r"|release|deploy\w*|session|sessions|keys?|backups?|scripts?|commands?|code|codes|tests?|testing|mock\w*|dummy|fake"
    r"|eingeben|eingabe|erforderlich|ungültig\w*|falsch\w*|gültig\w*|pflicht\w*|zeichen|tresor|datei|benutzer\w*|nutzer\w*"
    r"|anmeld\w*|gespeichert|vergessen|richtlinie|umgebung\w*|schlüssel|saisi\w*|veuillez|obligatoire|requise?|invalide"
    r"|incorrecte?|coffre|fichier|utilisateur\w*|caractères?|oubliée?|connexion|environnement|stockée?|introdu\w+"
    r"|ingres[ae]\w*|obligatori[oa]|requerid[oa]|inválid[oa]|incorrect[oa]|campo|usuario|usuário|caracteres|archivo|arquivo"
    r"|gestor|cofre|olvid\w+|esquec\w+|digite|informe|insira|inserisci|errat[oa]|sbagliat[oa]|utente|caratteri|voer|verplicht"
    r"|ongeldig\w*|tekens|gebruiker\w*|bestand|kluis|wymagan\w*|nieprawid\w*|błędn\w*|użytkownik\w*|znaków|plik\w*|sejf\w*)"
)
"""Words that occur in sentences about passwords, and hardly ever in a passphrase."""

STATE = _set(
    "bad good fine okay broken hard easy simple complex common unique known unknown long longer short shorter strong"
    " stronger old older new newer set unset kept sent given shown written hardcoded hard reused public private global"
    " local here below above correct right safe unsafe ready available necessary mandatory irrelevant obsolete stale"
    " outdated temporary permanent different identical similar equal part half whatever anyone about due free gone lost"
    " dead stuck owned case read put held left found built hers his up down"
    " richtig korrekt leer nötig notwendig bekannt unbekannt kurz lang schwach stark sicher unsicher alt neu abgelaufen"
    " faux fausse vide faible court courte longue bonne mauvaise perdu perdue connu connue correcte"
    " correcto correcta correto correta vacío vacía vazio vazia débil fraco fraca corto corta curto curta largo"
    " larga longo longa necesario necesaria necessário necessária debole vuota scaduta lunga"
    " verlopen onjuist fout verkeerd leeg nodig zwak lek bekend puste słabe krótkie"
    " fel forkert feil tomt tom sparat gemt lagret kort svagt"
    " \u043d\u0435\u0432\u0435\u0440\u043d\u044b\u0439 \u0432\u0435\u0440\u043d\u044b\u0439 \u043f\u0443\u0441\u0442\u043e\u0439"
)
"""First words of sentences that say something about a password: "is wrong ..."."""

NOUNS = _set(
    "bed feed seed weed reed shed sled speed breed deed need greed steed creed red hundred"
    " king ring wing thing string spring swing sting sling morning evening ceiling building wedding pudding lightning"
    " duckling sibling dumpling herring earring darling sterling viking"
    " fly butterfly dragonfly firefly family lily belly jelly bully holly folly rally ally italy july assembly"
    " table cable fable stable maple vegetable bible syllable"
)
"""Words that look like the participles and adverbs with which a statement about a password begins, but are nouns."""

ORDINARY = _set(
    "table tables row rows column columns key keys code codes test tests letter letters word words file files path paths"
    " form forms field fields button buttons label labels flag flags team teams script scripts bit bits body bodies"
    " company release session column min max rule rules backup server args mask masked missing salted hidden enter match"
)
"""Words about passwords and programs that are also in word lists for passphrases."""

_ENGLISH = r"\w{3,24}(?:ed|ing|ly|able|ible|less)"
_SPANISH = r"\w{3,24}(?:[ai]d[oa]s?|mente|[ai]ble)"
SHAPES = {
    "is": re.compile(rf"{_ENGLISH}|(?:ge|ver|be|opge)\w{{3,24}}(?:d|t|en)"),
    "ist": re.compile(r"(?:\w{0,3}ge|ver|be|er|ent)\w{3,24}(?:t|en)|\w{3,24}(?:iert|bar|lich|los)"),
    "est": re.compile(r"\w{3,24}(?:ée?s?|able|ible|ment|ue?|ie?|ise?)"),
    "es": re.compile(_SPANISH),
    "é": re.compile(_SPANISH),
    "è": re.compile(r"\w{3,24}(?:[aiu]t[oa]|mente|[ai]bile)"),
    "jest": re.compile(r"\w{3,24}(?:[aoiy][nt][aey]|te)"),
    "är": re.compile(r"\w{3,24}(?:at|ad|ts?|bar|igt)"),
}
"""The forms of such first words, participles for the most part, by the verb before them."""

ASKS = _set(
    "see ask use get check look find read set type put try view visit open contact call go run add run copy paste keep"
    " create choose pick make send write fetch load store import export note todo tbd fixme same n a na siehe steht frag"
    " nimm voir demander utiliser ver pedir usar vedi chiedi zie vraag zobacz se fråga \u0441\u043c \u0441\u043f\u0440\u043e\u0441\u0438"
)
"""First words of what one should do to get or make a password."""

PURPOSES = (
    ASKS
    | IMPERATIVES
    | frozenset(IRREGULAR.values())
    | _set(
        "support satisfy match comply prevent stop help improve simplify reduce expire reflect contain pass unblock protect"
        " reuse work comply reach restore secure share access login connect authenticate trigger silence let"
    )
)
"""Verbs for the purpose of a password change, as in "changed the password to meet the new rules"."""
