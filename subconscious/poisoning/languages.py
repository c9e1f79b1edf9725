"""Imperatives in languages other than English: send secrets away, run what is fetched, keep it from the user.

Sentences are matched by the words that such an order can't do without, in either order, for in several of these languages
the verb ends the sentence. Letters are folded by ``row``.
"""

from __future__ import annotations

from subconscious.model import Level, Threat
from subconscious.poisoning.rule import Rule, row

MEDIUM, HIGH = Level.MEDIUM, Level.HIGH

_SENDING = "|".join((
    # German, Dutch
    r"\b(?:schick|send|uebermitt|übermitt|übertrag|uebertrag|poste|veröffentlich|veroeffentlich|verschick|versend)(?:e[nt]?|t|l[en]|le|eln)?\b",
    r"\blade?\b[^.\n]{0,60}\bhoch\b", r"\bhoch(?:zu)?laden\b", r"\bhäng\w{0,2}\b[^.\n]{0,60}\ban\b", r"\b(?:verstuur|stuur|verzend)\b",
    # French, Spanish, Portuguese, Italian
    r"\b(?:envoie[sz]?|envoye[rz]|transmet(?:s|tez|tre)|publie[rz]?|téléverse[rz]?|joins|joignez)\b",
    r"\b(?:envia|envíe|enviar|envíalas?|envíalos?|manda|mande|mandar|sube|suba|subir|adjunta|adjunte|publica|publique|envie|anexe)\b",
    r"\b(?:invia|inviare|inviale|inviali|carica|caricare|pubblica|allega)\b",
    # Polish, Turkish, Indonesian
    r"\b(?:wyślij|prześlij|opublikuj)\b", r"\b(?:gönder|yükle|paylaş)\w{0,4}\b", r"\b(?:kirim|kirimkan|unggah)\b",
    # Russian, Ukrainian
    r"\b(?:отправь|отправьте|перешли|перешлите|пришли|загрузи|загрузите|опубликуй|надішли|відправ)\b",
    # Chinese, Japanese, Korean, Arabic, Hindi
    r"发送|发到|上传|提交到|傳送|上傳", r"送信|送って|アップロード|投稿", r"보내|전송|업로드", r"أرسل|ارسل|ارفع|انشر", r"भेज|अपलोड",
))
_SHOWING = "|".join((
    r"\b(?:gib|geben)\b[^.\n]{0,60}\baus\b", r"\bauszugeben\b|\bausgeben\b", r"\b(?:zeig|schreib|kopier|füg|fueg)(?:e|en|t|st)?\b",
    r"\b(?:affiche|imprime|écris|écrivez|copie|colle|ajoute)[rz]?\b", r"\b(?:muestra|muestre|imprime|escribe|escriba|copia|copie|pega|pegue|incluye|vuelca)\b",
    r"\b(?:mostre|imprima|escreva|cole|inclua)\b", r"\b(?:stampa|mostra|scrivi|incolla|includi)\b", r"\b(?:toon|druk|plak|schrijf)\b", r"\b(?:wypisz|pokaż|wklej|dołącz)\b",
    r"\b(?:yazdır|göster|ekle)\w{0,4}\b", r"\b(?:выведи|выведите|покажи|покажите|вставь|запиши|напечатай)\b", r"打印|输出|粘贴|写入|附上|列印|輸出",
    r"出力|表示し|貼り付け|書き込|添付", r"출력|붙여|첨부|기록", r"اطبع|اعرض|الصق", r"दिखा|प्रिंट|लिख",
))
_SECRET = "|".join((
    r"\.env\b|\bid_rsa\b|\.ssh\b|\bprintenv\b|\b\w{0,20}_(?:key|token|secret)\b|\bapi[ _-]?keys?\b|\baccess[ -]?tokens?\b",
    r"\b(?:passwort|passwörter|kennwort|kennwörter|zugangsdaten|anmeldedaten|geheimnisse?|umgebungsvariablen|api-schlüssel|schlüssel|zugriffstoken)\b",
    r"\b(?:mots? de passe|identifiants|clés? (?:api|d'api|privées?|secrètes?)|variables d'environnement|jetons?)\b",
    r"\b(?:contraseñas?|credenciales|claves? (?:de api|api|privadas?|secretas?)|variables de entorno|secretos)\b",
    r"\b(?:senhas?|credenciais|chaves? (?:de api|da api|api|privadas?)|variáveis de ambiente|segredos)\b",
    r"\b(?:credenziali|chiav[ei] (?:api|private|segrete)|variabili d'ambiente|segreti)\b", r"\b(?:wachtwoorden|wachtwoord|omgevingsvariabelen|sleutels)\b",
    r"\b(?:hasła|hasło|klucze|klucz api|zmienne środowiskowe)\b", r"\b(?:şifre|parola|anahtar|ortam değişken)\w{0,8}", r"\b(?:kata sandi|kunci api|variabel lingkungan)\b",
    r"\b(?:парол|ключ|токен|секрет|учетн\w{2,4} данн|переменн\w{2,4} (?:окружени|сред))\w{0,4}",
    r"密码|密钥|凭证|凭据|令牌|环境变量|密碼|金鑰|環境變數", r"パスワード|認証情報|秘密鍵|環境変数|トークン|apiキー", r"비밀번호|환경 ?변수|토큰|자격 ?증명|인증 ?정보|비밀 ?키|api ?키",
    r"كلم(?:ة|ات) المرور|المفاتيح|مفتاح|متغيرات البيئة|بيانات الاعتماد", r"पासवर्ड|कुंजी|क्रेडेंशियल",
))
_PLACE = "|".join((
    r"https?://|[\w.+-]{1,40}@[\w-]{1,40}\.|\bwebhook\b",
    r"\b(?:antwort|kommentar|ticket|issue|pull[ -]request|pr-beschreibung|datei|chat|kanal|anhang|server|log)\b",
    r"\b(?:réponse|commentaire|fichier|serveur|respuesta|comentario|archivo|servidor|resposta|arquivo|risposta|commento|antwoord|bestand|odpowiedzi|komentarzu|plik\w{0,3}|yanıt|yorum|dosya)\w{0,4}\b",
    r"\b(?:ответ|комментари|файл|сервер|чат)\w{0,4}", r"回复|评论|文件|服务器|响应|回覆", r"返信|回答|コメント|ファイル|サーバ", r"답변|댓글|파일|서버|응답", r"الرد|ملف|تعليق|الخادم", r"जवाब|फ़ाइल|सर्वर|टिप्पणी",
))
_RUNNING = "|".join((
    r"\b(?:führe?|fuehre?)\b|\b(?:führen|fuehren) sie\b", r"\b(?:auszuführen|ausführen|ausfuehren)\b", r"\bstarte[nt]?\b", r"\b(?:exécute[rz]|lance[rz])\b",
    r"\b(?:ejecuta|ejecute|ejecutar|corre|lanza)\b", r"\b(?:execute (?:o|este|esse)|rode|executar)\b", r"\b(?:esegui|eseguire|avvia|lancia)\b", r"\b(?:voer|uitvoeren)\b",
    r"\b(?:uruchom|wykonaj)\b", r"\b(?:çalıştır)\w{0,4}\b", r"\bjalankan\b", r"\b(?:выполни|выполните|запусти|запустите|виконай)\b", r"运行|执行|運行|執行", r"実行",
    r"실행", r"شغل|نفذ", r"चला",
))
_FETCHED = r"\b(?:curl|wget|iwr|powershell|python3? -c|node -e|bash -c|sh -c|eval|npx|pip3? install|npm i(?:nstall)?|base64 -d)\b|https?://"
_HIDING = "|".join((
    r"\b(?:sag|sage|erzähl|erzähle|verrat|verrate|erwähn|erwähne|melde|informier|informiere)\w{0,2}\b[^.\n]{0,30}\b(?:nutzer|benutzer|anwender|user)\w{0,2}\b[^.\n]{0,20}\b(?:nichts|nicht|kein\w{0,2})\b",
    r"\bohne (?:den |die |das )?(?:nutzer|benutzer|anwender|user)\w{0,2} (?:zu (?:fragen|informieren)|davon)\b", r"\bohne (?:nachzufragen|rückfrage|nachfrage)\b[^.\n]{0,40}\b(?:führ|send|schick|installier|lösch|push)",
    r"\bne (?:dis|dites|préviens|prévenez|informe[rz]?|mentionne[rz]?|signale[rz]?)\b[^.\n]{0,40}\butilisateur", r"\bsans (?:prévenir|informer|demander à|avertir) l'utilisateur\b",
    r"\bno (?:le |se lo )?(?:digas|diga|informes|informe|avises|avise|menciones|mencione|cuentes)\b[^.\n]{0,40}\busuari", r"\bsin (?:avisar|informar|preguntar|decir\w{0,2}) (?:nada )?al usuario\b",
    r"\bnão (?:diga|informe|avise|mencione|conte)\b[^.\n]{0,40}\busuári", r"\bsem (?:avisar|informar|perguntar) (?:ao |o )?usuário\b",
    r"\bnon (?:dire|informare|avvisare|menzionare)\b[^.\n]{0,40}\butente\b", r"\bsenza (?:avvisare|informare|chiedere all')\W?(?:l')?utente\b",
    r"\b(?:vertel|zeg)\b[^.\n]{0,30}\bgebruiker\b[^.\n]{0,20}\bniet", r"\bnie (?:mów|informuj|wspominaj)\b[^.\n]{0,40}\bużytkownik", r"\bkullanıcıya (?:söyleme|bildirme|haber verme)\b",
    r"\bне (?:говори|сообщай|упоминай|рассказывай)\w{0,2}\b[^.\n]{0,40}\bпользовател", r"\bбез ведома пользовател",
    r"(?:不要|别|勿|不得)(?:告诉|告知|通知|提醒|告訴)[^。\n]{0,6}(?:用户|使用者|用戶)", r"ユーザー?(?:に|には)[^。\n]{0,10}(?:言わない|知らせない|伝えない|教えない|通知しない)", r"사용자에게[^.\n]{0,12}(?:말하지|알리지|보고하지|언급하지)",
    r"لا تخبر المستخدم", r"उपयोगकर्ता को (?:मत|न) बता",
))

_SENDING_CUES = (
    "schick|send|bermitt|bertrag|poste|ffentlich|hoch|hang|stuur|verzend|envoi|envoy|transmet|publi|televers|join|envi|mand|sub|adjunt|anexe|invi|caric|pubblic|alleg|"
    "wyślij|prześlij|opublikuj|gönder|yükle|paylaş|kirim|unggah|отправ|перешли|пришли|загрузи|опубликуй|надішли|відправ|发送|发到|上传|提交到|傳送|上傳|送信|送って|アップロード|投稿|보내|전송|업로드|"
    "أرسل|ارسل|ارفع|انشر|भेज|अपलोड"
)

_NEAR = r"(?:[^.。\n]|\.(?=\S)){0,80}"
"""The rest of a sentence, with the full stops of names and addresses."""

RULES: tuple[Rule, ...] = (
    row("send-secrets-foreign", Threat.EXFILTRATION, MEDIUM, _SENDING_CUES,
        rf"(?:{_SENDING}){_NEAR}(?:{_SECRET})|(?:{_SECRET}){_NEAR}(?:{_SENDING})",
        "it sends secrets away"),
    row("show-secrets-foreign", Threat.EXFILTRATION, MEDIUM,
        "env|key|token|secret|passw|kennw|daten|geheim|umgebung|schluss|passe|identifiant|cle|variab|variav|contrase|creden|clav|senha|chave|segre|secreto|chiav|wachtw|omgeving|sleutel|hasł|klucz|zmienn|şifre|parola|anahtar|sandi|kunci|"
        "парол|ключ|токен|секрет|переменн|密码|密钥|凭证|凭据|令牌|环境变量|密碼|金鑰|環境變數|パスワード|認証情報|秘密鍵|環境変数|トークン|비밀|환경|토큰|자격|인증|المرور|مفتاح|المفاتيح|متغيرات|बेट|पासवर्ड|कुंजी",
        rf"(?:{_SHOWING})[^.。\n]{{0,60}}(?:{_SECRET})[^。\n]{{0,60}}(?:{_PLACE})|(?:{_SECRET})[^.。\n]{{0,60}}(?:{_PLACE})[^.。\n]{{0,40}}(?:{_SHOWING})"
        rf"|\b(?:gib|geben)\b[^.\n]{{0,40}}(?:{_SECRET})[^.\n]{{0,60}}\baus\b",
        "it puts secrets where others read them"),
    row("run-fetched-foreign", Threat.CODE, MEDIUM, "curl|wget|iwr|powershell|python|node -e|bash -c|sh -c|eval|npx|install|npm i|base64|http",
        rf"(?:{_RUNNING})[^。\n]{{0,80}}(?:{_FETCHED})|(?:{_FETCHED})[^。\n]{{0,120}}(?:{_RUNNING})",
        "it runs what an address or a shell gives"),
    row("drop-instructions-foreign", Threat.INSTRUCTION, HIGH,
        "игнор|забуд|не обращай|не следуй|αγνο|ξεχασ|अनदेखा|अनदेखी|भूल|yok say|görmezden|unut|zignoruj|ignoruj|zapomnij|pomiń|negeer|vergeet|abaikan|lupakan|bỏ qua|ignorera|glöm|無視|忘れ|무시|잊|تجاهل|انس",
        r"\b(?:игнориру(?:й|йте)|игнорировать|забудь(?:те)?|не (?:обращай|следуй)\w{0,2})\b[^.\n]{0,40}(?:инструкц|правил|указан|команд)|(?:αγνοήστε|αγνόησε|ξέχασε)[^.\n]{0,40}(?:οδηγί|εντολ|κανόν)|(?:निर्देश|नियम)[^।\n]{0,30}(?:अनदेखा|अनदेखी|भूल)|(?:talimat|kural|yönerge)\w{0,8} (?:yok say|görmezden gel|unut)"
        r"|\b(?:zignoruj|ignoruj|zapomnij|pomiń)\b[^.\n]{0,40}\b(?:instrukcj|polece|zasad)|\b(?:negeer|vergeet)\b[^.\n]{0,40}\b(?:instructies|regels|opdrachten)|\b(?:abaikan|lupakan)\b[^.\n]{0,40}\b(?:instruksi|aturan|perintah)|bỏ qua[^.\n]{0,40}(?:hướng dẫn|chỉ dẫn|quy tắc)|\b(?:ignorera|glöm)\b[^.\n]{0,40}\b(?:instruktion|regler)"
        r"|(?:指示|命令|ルール|プロンプト)[^。\n]{0,12}(?:無視|忘れ)|(?:지시|명령|규칙|지침|프롬프트)[^.\n]{0,12}(?:무시|잊)|(?:تجاهل|انس)[^.\n]{0,30}(?:التعليمات|الأوامر|القواعد)",
        "it asks to drop instructions"),
    row("hide-from-user-foreign", Threat.SOCIAL, HIGH,
        "nutzer|anwender|user|ohne|utilisateur|usuari|usuári|utente|gebruiker|użytkownik|kullanıcı|пользовател|用户|使用者|用戶|ユーザ|사용자|المستخدم|उपयोगकर्ता",
        rf"{_HIDING}", "it wants something kept from the person"),
)  # fmt: skip
