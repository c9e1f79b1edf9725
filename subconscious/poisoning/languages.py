"""Rules for orders in languages other than English: to send secrets, run downloaded code, or hide this from the user.

A rule matches the words that such an order needs in any word order, because in several languages the verb ends the
sentence. ``row`` folds the letters. Each family of languages has its own rows, so that most rows are skipped for a
text in another alphabet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from subconscious.domain.model import Level, Threat
from subconscious.poisoning.rule import Rule, row
from subconscious.poisoning.sweeping import is_partial

MEDIUM, HIGH = Level.MEDIUM, Level.HIGH


_NEAR = r"(?:[^.。\n]|\.(?=\S)){0,80}"
"""The rest of a sentence, including the full stops in names and addresses."""


@dataclass(frozen=True, slots=True)
class Family:
    """Languages with a common alphabet, and their words for the parts of the rules, as patterns.

    The fields that end with ``_cues`` are plain words, separated by "|": a rule is applied only to a text that contains
    one of the rule's cues.
    """

    name: str
    sending_cues: str
    sending: str
    showing: str
    secret_cues: str
    secret: str
    place: str
    running: str
    hiding_cues: str
    hiding: str
    near: str = _NEAR


_FAMILIES = (
    Family(
        "germanic",
        "schick|send|bermitt|bertrag|poste|ffentlich|hoch|hang|stuur",
        r"\b(?:schick(?:en?|t)?|sende[nt]?|übermitt(?:le|eln)|übertrage?n?|poste[nt]?|veröffentlichen?|verschicken?|versenden?)\b|\blade?\b[^.\n]{0,40}\bhoch\b|\bhoch(?:zu)?laden\b|\bhäng\w{0,2}\b[^.\n]{0,40}\ban\b|\b(?:verstuur|stuur)\b",
        r"\b(?:gib|geben)\b|\bauszugeben\b|\bausgeben\b|\b(?:zeig|schreib|kopier|füg|trag|pack|leg)(?:e|en)?\b|\b(?:toon|druk|plak|schrijf)\b",
        "passwor|kennw|zugangs|anmelde|geheim|umgebung|schluss|zugriff|wachtw|omgeving|sleutel",
        r"\b(?:passwort|passwörter|kennwort|kennwörter|zugangsdaten|anmeldedaten|geheimnisse?|umgebungsvariablen|api-schlüssel|schlüssel|zugriffstoken|wachtwoorden|wachtwoord|omgevingsvariabelen|sleutels)\b",
        r"\b(?:antwort|kommentar|ticket|issue|pull[ -]request|pr-beschreibung|beschreibung|öffentliche\w? \w{3,12}|datei|chat|kanal|anhang|server|log|antwoord|bestand)\b",
        r"\b(?:führe?|auszuführen|ausführen|starte|voer)\b|\bführen sie\b",
        "nutzer|anwender|user|ohne|gebruiker",
        r"\b(?:sag|sage|erzähl|erzähle|verrat|verrate|erwähn|erwähne|melde|informier|informiere)\b[^.\n]{0,30}\b(?:nutzer|benutzer|anwender|user)\w{0,2}\b[^.\n]{0,20}\b(?:nichts|nicht|kein\w{0,2})\b"
        r"|\bohne (?:den |die |das )?(?:nutzer|benutzer|anwender|user)\w{0,2} (?:zu (?:fragen|informieren)|davon)\b|\b(?:vertel|zeg)\b[^.\n]{0,30}\bgebruiker\b[^.\n]{0,20}\bniet",
    ),
    Family(
        "romance",
        "envoi|envoy|transmet|publi|televers|join|joign|envi|mand|sub|adjunt|anexe|carica|pubblic|alleg|invi",
        r"\b(?:envoie[sz]?|envoye[rz]|transmet(?:s|tez|tre)|publie[rz]?|téléverse[rz]?|joins|joignez|envia|envíe|enviar|envie|manda|mande|mandar|sube|suba|subir|adjunta|adjunte|publica|publique|anexe|invia|inviare|carica|caricare|pubblica|allega)\b",
        r"\b(?:affiche|imprime|écris|écrivez|copie|colle|ajoute|mets|inclus|insère|muestra|muestre|escribe|escriba|copia|pega|pegue|incluye|incluya|vuelca|pon|añade|mostre|imprima|escreva|cole|inclua|coloque|adicione|stampa|mostra|scrivi|incolla|includi)[rz]?\b",
        "mot|identifiant|cle|clav|variab|variav|jeton|contrase|creden|segre|secreto|senha|chave|chiav",
        r"\b(?:mots? de passe|identifiants|clés? (?:api|d'api|aws|ssh|privées?|secrètes?)|variables d'environnement|jetons?|contraseñas?|credenciales|claves? (?:de api|api|aws|ssh|privadas?|secretas?)|variables de entorno|secretos|senhas?|credenciais|chaves? (?:de api|da api|api|aws|ssh|privadas?)|variáveis de ambiente|segredos|credenziali|chiav[ei] (?:api|private|segrete)|variabili d'ambiente|segreti)\b",
        r"\b(?:réponse|commentaire|fichier|serveur|respuesta|comentario|archivo|servidor|resposta|comentário|arquivo|pasta pública|carpeta pública|dossier public|cartella pubblica|descri(?:ção|pción|ption|zione)|risposta|commento|server|chat|ticket|issue|log)\b",
        r"\b(?:exécute[rz]|lance[rz]|ejecuta|ejecute|ejecutar|corre|lanza|rode|executar|esegui|eseguire|avvia|lancia)\b|\bexecute (?:o|este|esse)\b",
        "utilisateur|usuari|utente",
        r"\bne (?:dis|dites|préviens|prévenez|informe[rz]?|mentionne[rz]?|signale[rz]?)\b[^.\n]{0,40}\butilisateur|\bsans (?:prévenir|informer|demander à|avertir) l'utilisateur\b"
        r"|\bno (?:le |se lo )?(?:digas|diga|informes|informe|avises|avise|menciones|mencione|cuentes)\b[^.\n]{0,40}\busuari|\bsin (?:avisar|informar|preguntar|decir\w{0,2}) (?:nada )?al usuario\b"
        r"|\bnão (?:diga|informe|avise|mencione|conte)\b[^.\n]{0,40}\busuári|\bsem (?:avisar|informar|perguntar) (?:ao |o )?usuário\b"
        r"|\bnon (?:dire|informare|avvisare|menzionare)\b[^.\n]{0,40}\butente\b|\bsenza (?:avvisare|informare) l'utente\b",
    ),
    Family(
        "latin",
        "wyslij|wyślij|przes|opublikuj|gönder|yükle|paylaş|kirim|unggah",
        r"\b(?:wyślij|prześlij|opublikuj)\b|\b(?:gönder|yükle|paylaş)\w{0,4}\b|\b(?:kirim|kirimkan|unggah)\b",
        r"\b(?:wypisz|pokaż|wklej|dołącz)\b|\b(?:yazdır|göster|ekle)\w{0,4}\b|\b(?:tampilkan|salin|tempel)\b",
        "has|klucz|zmienn|şifre|parola|anahtar|ortam|sandi|kunci|variabel",
        r"\b(?:hasła|hasło|klucze|klucz api|zmienne środowiskowe)\b|\b(?:şifre|parola|anahtar|ortam değişken)\w{0,8}|\b(?:kata sandi|kunci api|variabel lingkungan)\b",
        r"\b(?:odpowiedzi|komentarzu|pliku|serwer|yanıt|yorum|dosya|sunucu|jawaban|komentar|berkas)\w{0,4}\b",
        r"\b(?:uruchom|wykonaj)\b|\bçalıştır\w{0,4}\b|\bjalankan\b",
        "użytkownik|kullanıcı",
        r"\bnie (?:mów|informuj|wspominaj)\b[^.\n]{0,40}\bużytkownik|\bkullanıcıya (?:söyleme|bildirme|haber verme)\b",
        r"(?:[^.。\n]|\.(?=\S)){0,60}",
    ),
    Family(
        "cyrillic",
        "отправ|перешли|пришли|загрузи|опубликуй|надішли|відправ",
        r"\b(?:отправь|отправьте|перешли|перешлите|пришли|загрузи|загрузите|опубликуй|надішли|відправ)\b",
        r"\b(?:выведи|выведите|покажи|покажите|вставь|запиши|напечатай|скопируй|скопируйте|добавь|добавьте|помести)\b",
        "парол|ключ|токен|секрет|данн|переменн",
        r"\b(?:парол|ключ|токен|секрет|учетн\w{2,4} данн|переменн\w{2,4} (?:окружени|сред))\w{0,4}",
        r"\b(?:ответ|комментари|файл|сервер|чат)\w{0,4}",
        r"\b(?:выполни|выполните|запусти|запустите|виконай)\b",
        "пользовател",
        r"\bне (?:говори|сообщай|упоминай|рассказывай)\w{0,2}\b[^.\n]{0,40}\bпользовател|\bбез ведома пользовател",
    ),
    Family(
        "chinese-japanese",
        "发送|发到|上传|提交到|傳送|上傳|送信|送って|アップロード|投稿",
        r"(?:发送|发到|上传|提交到|傳送|上傳|送信(?!しない)|送って|アップロード(?!しない)|投稿(?!しない))",
        r"打印|输出|粘贴|写入|写进|写到|复制到|放到|放进|附上|附在|列印|輸出|出力|表示し|貼り付け|貼って|書き込|書いて|含め|添付",
        "密码|密钥|凭证|凭据|令牌|环境变量|密碼|金鑰|環境變數|パスワード|認証情報|秘密鍵|環境変数|トークン|apiキー",
        r"密码|密钥|凭证|凭据|令牌|环境变量|密碼|金鑰|環境變數|パスワード|認証情報|秘密鍵|環境変数|トークン|apiキー",
        r"回复|评论|说明|描述|文件|服务器|响应|回覆|返信|回答|コメント|説明|プルリクエスト|ファイル|サーバ",
        r"运行|执行|運行|執行|実行",
        "用户|使用者|用戶|ユーザ",
        r"(?:不要|别|勿|不得)(?:告诉|告知|通知|提醒|告訴)[^。\n]{0,6}(?:用户|使用者|用戶)|ユーザー?(?:に|には)[^。\n]{0,10}(?:言わない|知らせない|伝えない|教えない|通知しない)",
        r"[^。\n]{0,40}",
    ),
    Family(
        "korean-arabic-hindi",
        "보내|전송|업로드|أرسل|ارسل|ارفع|انشر|भेज|अपलोड",
        r"보내|전송|업로드|أرسل|ارسل|ارفع|انشر|भेज|अपलोड",
        r"출력|붙여|첨부|기록|اطبع|اعرض|الصق|दिखा|प्रिंट|लिख",
        "비밀|환경|토큰|자격|인증|api|كلم|المفاتيح|مفتاح|متغيرات|بيانات|पासवर्ड|कुंजी|क्रेडेंशियल",
        r"비밀번호|환경 ?변수|토큰|자격 ?증명|인증 ?정보|비밀 ?키|api ?키|كلم(?:ة|ات) المرور|المفاتيح|مفتاح|متغيرات البيئة|بيانات الاعتماد|पासवर्ड|कुंजी|क्रेडेंशियल",
        r"답변|댓글|파일|서버|응답|الرد|ملف|تعليق|الخادم|जवाब|फ़ाइल|सर्वर|टिप्पणी",
        r"실행|شغل|نفذ|चला",
        "사용자|المستخدم|उपयोगकर्ता",
        r"사용자에게[^.\n]{0,12}(?:말하지|알리지|보고하지|언급하지)|لا تخبر المستخدم|उपयोगकर्ता को (?:मत|न) बता",
    ),
)  # fmt: skip

_LOAN = r"\.env\b(?!\.(?:ex|sam|tem|dist))|\bid_rsa\b|\.ssh\b|\.aws\b|\bkubeconfig\b|\bprintenv\b|_(?:key|token|secret)\b|\bapi[ _-]?keys?\b|\baccess[ -]?tokens?\b|\btokens?\b|\bcredentials\b|\bpasswords?\b|\bsecrets\b"
"""Names of secrets that most languages borrow from English."""

_LOAN_CUES = "env|id_rsa|.ssh|.aws|kubeconfig|key|token|secret|credentials|password"
_PLACES = r"\b(?:pull|merge)[ -]requests?\b|\bprs?\b|\breadme\b|\bissues?\b|\bcommits?\b|\bslack\b|\bticket\b|\bgist\b|\bwiki\b"
"""Public places with names that most languages borrow from English."""

_ADDRESS = r"https?://|@[\w-]{1,40}\.|\bwebhook\b"
_FETCHED = r"\b(?:curl|wget|iwr|powershell|python3? -c|node -e|bash -c|sh -c|eval|npx|pip3? install|npm i(?:nstall)?|base64 -d)\b|https?://"
_FETCHED_CUES = "curl|wget|iwr|powershell|python|node -e|bash -c|sh -c|eval|npx|install|npm i|base64|http"


_NEVER = ("n'", "ne ", "no ", "nunca ", "não ", "jamais ", "nie ", "niemals ", "never ", "n't ", "not ")
_NEVER_WITH = tuple(f"{word}把{gap}" for word in ("不要", "别", "勿", "不得", "禁止") for gap in ("", " "))
_NOT_REFUSED = "".join(f"(?<!{word})" for word in (*_NEVER, *_NEVER_WITH))
"""A pattern that excludes a prohibition before a match."""


_APART = r"(?:[^.。\n]|\.(?=\S))"
"""A character within a sentence."""


def _rows(family: Family) -> Iterator[Rule]:
    secret, place = f"(?:{family.secret}|{_LOAN})", f"(?:{family.place}|{_PLACES}|{_ADDRESS})"
    gap = 4 if family.name == "chinese-japanese" else 14  # characters between parts; these scripts are dense
    sending, showing, running = f"(?:{family.sending})", f"(?:{family.showing})", f"(?:{family.running})"
    yield row(
        f"send-secrets-{family.name}",
        Threat.EXFILTRATION,
        MEDIUM,
        family.sending_cues,
        f"{_NOT_REFUSED}(?:{sending}{family.near}{secret}|{secret}{family.near}{sending})",
        "it sends secrets away",
    )
    yield row(
        f"show-secrets-{family.name}",
        Threat.EXFILTRATION,
        MEDIUM,
        f"{family.secret_cues}|{_LOAN_CUES}",
        rf"{_NOT_REFUSED}(?:{showing}{_APART}{{0,{gap}}}{secret}{_APART}{{0,{gap}}}{place}|{secret}{_APART}{{0,{gap}}}{place}{_APART}{{0,{gap // 2}}}{showing}"
        rf"|{secret}{_APART}{{0,{gap // 2}}}{showing}{_APART}{{0,{gap}}}{place}|{place}{_APART}{{0,{gap}}}{secret}{_APART}{{0,{gap // 2}}}{showing})",
        "it puts secrets where others can read them",
    )
    yield row(
        f"run-fetched-{family.name}",
        Threat.CODE,
        MEDIUM,
        _FETCHED_CUES,
        rf"{running}[^。\n]{{0,80}}(?:{_FETCHED})|(?:{_FETCHED})[^。\n]{{0,120}}{running}",
        "it runs downloaded code or a shell",
    )
    yield row(f"hide-from-user-{family.name}", Threat.SOCIAL, HIGH, family.hiding_cues, family.hiding,
        "it hides something from the person")  # fmt: skip


RULES: tuple[Rule, ...] = (
    *(rule for family in _FAMILIES for rule in _rows(family)),
    row("drop-instructions-foreign", Threat.INSTRUCTION, HIGH,
        "игнор|забуд|не обращай|не следуй|αγνο|αγνό|ξεχασ|ξέχασ|अनदेखा|अनदेखी|भूल|yok say|görmezden|unut|zignoruj|ignoruj|zapomnij|pomiń|negeer|vergeet|abaikan|lupakan|bỏ qua|ignorera|glöm|無視|忘れ|무시|잊|تجاهل|انس",
        r"\b(?:игнориру(?:й|йте)|игнорировать|забудь(?:те)?|не (?:обращай|следуй)\w{0,2})\b[^.\n]{0,40}(?:инструкц|правил|указан|команд)|(?:αγνοήστε|αγνόησε|ξέχασε)[^.\n]{0,40}(?:οδηγί|εντολ|κανόν)|(?:निर्देश|नियम)[^।\n]{0,30}(?:अनदेखा|अनदेखी|भूल)|(?:talimat|kural|yönerge)\w{0,8} (?:yok say|görmezden gel|unut)"
        r"|\b(?:zignoruj|ignoruj|zapomnij|pomiń)\b[^.\n]{0,40}\b(?:instrukcj|polece|zasad)|\b(?:negeer|vergeet)\b[^.\n]{0,40}\b(?:instructies|regels|opdrachten)|\b(?:abaikan|lupakan)\b[^.\n]{0,40}\b(?:instruksi|aturan|perintah)|bỏ qua[^.\n]{0,40}(?:hướng dẫn|chỉ dẫn|quy tắc)|\b(?:ignorera|glöm)\b[^.\n]{0,40}\b(?:instruktion|regler)"
        r"|(?:指示|命令|ルール|プロンプト)[^。\n]{0,12}(?:無視|忘れ)|(?:지시|명령|규칙|지침|프롬프트)[^.\n]{0,12}(?:무시|잊)|(?:تجاهل|انس)[^.\n]{0,30}(?:التعليمات|الأوامر|القواعد)",
        "it asks to drop instructions", narrows=is_partial),
    row("your-safety-off-latin", Threat.INSTRUCTION, HIGH,
        "dein|eure|tus|tes|vos|suas|tuas|tue|tuoi|jouw|je |swoje|twoje",
        r"\b(?:ignorier|schalte?|deaktivier|umgeh|vergiss|missachte|überspring|befolge|hebel|setz)\w{0,3}\b[^.\n]{0,20}\b(?:deine|eure)[nrms]?\b[^.\n]{0,20}\b(?:sicherheits\w{2,20}|schutz\w{4,20}|leitlinien|beschränkungen|einschränkungen)\b"
        r"|\b(?:ignora|desactiva|omite|olvida|elude|salta|no (?:sigas|apliques|respetes))\b[^.\n]{0,10}\btus (?:\w{2,14} ){0,3}(?:seguridad|restricciones|directrices|protecciones|salvaguardas)\b"
        r"|\b(?:ignore|désactive|contourne|oublie|n'applique pas|ne (?:suis|respecte) (?:pas|plus))[rz]?\b[^.\n]{0,10}\b(?:tes|vos) (?:\w{2,14} ){0,3}(?:sécurité|restrictions|consignes|protections|garde-fous)\b"
        r"|\b(?:ignore|desative|desativa|esqueça|contorne|pule|não siga)\b[^.\n]{0,10}\b(?:suas|tuas) (?:\w{2,14} ){0,3}(?:segurança|restrições|diretrizes|proteções)\b"
        r"|\b(?:ignora|disattiva|aggira|dimentica)\b[^.\n]{0,10}\b(?:tue|tuoi) (?:\w{2,14} ){0,3}(?:sicurezza|restrizioni|protezioni|linee guida)\b"
        r"|\b(?:negeer|omzeil|schakel)\b[^.\n]{0,10}\b(?:je|jouw) (?:\w{2,14} ){0,2}(?:veiligheids\w{2,16}|richtlijnen|beperkingen)\b"
        r"|\b(?:wyłącz|zignoruj|ignoruj|omiń)\b[^.\n]{0,10}\b(?:swoje|twoje) (?:\w{2,14} ){0,2}(?:bezpiecz\w{3,10}|zabezpieczenia|ograniczenia)",
        "it says that safety rules are off"),
    row("your-safety-off-foreign", Threat.INSTRUCTION, HIGH, "сво|тво|你的|您的|あなた|自分|너의|당신",
        r"\b(?:отключи|игнорируй|обойди|забудь|выключи|не соблюдай|не следуй)(?:те)?\b[^.\n]{0,20}\b(?:сво|тво)\w{1,3} [^.\n]{0,20}(?:безопасн|ограничени|фильтр|защит)"
        r"|(?:关闭|禁用|忽略|绕过|跳过|停用|无视|關閉|繞過)[^。\n]{0,6}(?:你的|您的)[^。\n]{0,8}(?:安全|限制|准则|防护|護欄|护栏)"
        r"|(?:あなた|自分)の(?:安全|制限|ガイドライン|ガードレール|フィルタ)[^。\n]{0,14}(?:無視|無効|解除|オフ|停止)|(?:너의|당신의) ?(?:안전|제한|가이드라인|필터)[^.\n]{0,14}(?:무시|해제|꺼|끄|비활성)",
        "it says that safety rules are off"),
)  # fmt: skip
