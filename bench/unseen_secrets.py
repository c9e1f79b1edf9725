"""Made-up secrets in realistic surroundings, drawn anew with a fixed seed, so that none stands in a file."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterator

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
WORDS = ("otter", "Granit", "lampe", "Mango", "river", "Kiosk", "pixel", "Tundra", "velvet", "Zebra")

_random = random.Random(190119)


def drawn(length: int, alphabet: str = ALNUM) -> str:
    """Return random characters."""
    return "".join(_random.choice(alphabet) for _ in range(length))


def uuid() -> str:
    """Return a random UUID."""
    return "-".join(drawn(length, HEX) for length in (8, 4, 4, 4, 12))


def password() -> str:
    """Return a password as people form it."""
    first, sign, second = _random.choice(WORDS), _random.choice("!$#%&*-_"), _random.choice(WORDS)
    return f"{first}{sign}{second}{_random.randint(10, 9999)}{_random.choice('!?#$*')}"


def encoded(text: str) -> str:
    """Return a text in base64."""
    return base64.b64encode(text.encode()).decode()


def pem_key(kind: str, lines: int = 8) -> tuple[str, str]:
    """Return a block that looks like a key, and one of its lines."""
    body = [drawn(64, BASE64) for _ in range(lines)]
    return f"-----BEGIN {kind}-----\n" + "\n".join(body) + f"\n-----END {kind}-----", body[3]


def jwt() -> str:
    """Return something that looks like a signed token."""
    claims = encoded('{"sub":"' + drawn(8) + '","role":"service_role"}').rstrip("=")
    header = encoded('{"alg":"HS256","typ":"JWT"}')
    return f"{header}.{claims}.{drawn(43, ALNUM + '-_')}"


def samples() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield texts with the values that must go. Even places are half 1, odd ones half 2."""
    _random.seed(190119)
    p, q, s = password(), drawn(24), drawn(40)
    yield _of(
        f"here's my .env\n```\nNODE_ENV=production\nPORT=3000\nDB_HOST=10.0.4.12\nDB_PASS={p}\nSESSION_SECRET={q}\nSENDGRID_KEY=SG.{drawn(22)}.{s}\n```\nwhy does the app not start?",
        p,
        q,
        s,
    )
    p = drawn(36)
    yield _of(
        f"curl -s -X POST https://api.acme.test/v2/deployments -H 'Authorization: Bearer {p}' -H 'content-type: application/json' -d '{{\"ref\":\"main\"}}'",
        p,
    )
    p = password()
    yield _of(f"Das Passwort für den Staging-Server ist {p}, Benutzer ist deploy. Bitte nimm den für den Test.", p)
    p = password()
    yield _of(f"le mot de passe de la base de recette c'est {p} , tu peux te connecter avec l'utilisateur app_ro", p)
    p = password()
    yield _of(f"la contraseña del admin de Grafana es {p} — entra y mira el panel de latencia", p)
    p = password()
    yield _of(f"a senha do banco de homologação é {p}, usuário 'leitura'", p)
    p = password()
    yield _of(f"пароль от тестовой базы: {p} (пользователь tester), проверь миграции", p)
    p = password()
    yield _of(f"测试环境的数据库密码是 {p} ,用户名 root,帮我跑一下迁移", p)
    k, line = pem_key("RSA PRIVATE KEY")
    yield _of(f"I get 'invalid format' when I load this key:\n{k}\nis there something wrong with the newlines?", line)
    k, line = pem_key("OPENSSH PRIVATE KEY", 6)
    yield _of(f"cat ~/.ssh/id_ed25519\n{k}\n$ ssh -i ~/.ssh/id_ed25519 git@host", line)
    p = password().replace("#", "x").replace("?", "y").replace("%", "z")
    yield _of(f"DATABASE_URL=postgresql://svc_orders:{p}@db-prod.internal:5432/orders?sslmode=require", p)
    p = drawn(18)
    yield _of(
        f"mongodb+srv://appuser:{p}@cluster0.ab1cd.mongodb.net/shop?retryWrites=true&w=majority is what compass uses", p
    )
    p = password()
    yield _of(
        f'"ConnectionStrings": {{ "Default": "Server=sql01;Database=Billing;User Id=sa;Password={p};TrustServerCertificate=True" }}',
        p,
    )
    p = drawn(86, BASE64) + "=="
    yield _of(
        f"DefaultEndpointsProtocol=https;AccountName=stmediaprod;AccountKey={p};EndpointSuffix=core.windows.net", p
    )
    p = drawn(32, LOWER + DIGITS)
    yield _of(
        f"GET /api/me HTTP/1.1\nHost: app.acme.test\nCookie: theme=dark; sessionid={p}; lang=de\nUser-Agent: Mozilla/5.0",
        p,
    )
    p = drawn(32) + "." + drawn(43)
    yield _of(f"< HTTP/2 200\n< set-cookie: connect.sid=s%3A{p}; Path=/; HttpOnly\n< content-type: application/json", p)
    p = drawn(16)
    yield _of(f"  501  cd infra\n  502  mysql -h db01 -u root -p{p} shop < dump.sql\n  503  ls -la", p)
    p = password()
    yield _of(f" 1200  sshpass -p '{p}' ssh admin@192.168.1.20 'systemctl restart app'", p)
    p = drawn(20)
    yield _of(f"PGPASSWORD={p} psql -h localhost -U postgres -c 'select 1'", p)
    p = drawn(27)
    yield _of(f"$ echo {p} | docker login registry.acme.test -u ci --password-stdin\nLogin Succeeded", p)
    p = drawn(30, HEX)
    yield _of(f"redis-cli -h cache.internal -a {p} --no-auth-warning INFO memory", p)
    p = drawn(36)
    yield _of(f"//npm.pkg.acme.test/:_authToken={p}\nalways-auth=true\nregistry=https://npm.pkg.acme.test/", p)
    p = drawn(19)
    yield _of(f"machine git.acme.test\n  login jenkins\n  password {p}\n", p)
    p = encoded("ci-bot:" + drawn(20))
    yield _of('{\n  "auths": {\n    "registry.acme.test": {\n      "auth": "' + p + '"\n    }\n  }\n}', p)
    p = drawn(28, LOWER + DIGITS + "!@#%^&*(-_=+)")
    yield _of(f"settings.py has SECRET_KEY = 'django-insecure-{p}' and DEBUG = True", p)
    p = drawn(128, HEX)
    yield _of(f"production:\n  secret_key_base: {p}\n  log_level: info", p)
    p = drawn(43, BASE64) + "="
    yield _of(f"[Interface]\nPrivateKey = {p}\nAddress = 10.8.0.2/24\nDNS = 1.1.1.1", p)
    p = drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
    yield _of(f"# created: 2026-01-04T10:00:00Z\n# public key: age1{drawn(58, LOWER + DIGITS)}\nAGE-SECRET-KEY-1{p}", p)
    p = encoded(pem_key("EC PRIVATE KEY", 5)[0])
    yield _of(
        f"users:\n- name: admin\n  user:\n    client-certificate-data: {encoded('-----BEGIN CERTIFICATE-----' + drawn(60))}\n    client-key-data: {p}",
        p,
    )
    p = encoded(password())
    yield _of(f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: {p}\n", p)
    bot, p = drawn(10, DIGITS), drawn(35, ALNUM + "_-")
    yield _of(f"Bot läuft jetzt, TELEGRAM={bot}:{p} steht in der compose-Datei", p)
    p = "M" + drawn(23) + "." + drawn(6) + "." + drawn(38, ALNUM + "_-")
    yield _of(f"client.login('{p}') // discord bot, move to config later", p)
    p = drawn(24)
    yield _of(
        f"the slack webhook is https://hooks.slack.com/services/T{drawn(8, UPPER + DIGITS)}/B{drawn(10, UPPER + DIGITS)}/{p} use it for the alerts",
        p,
    )
    p = f"{drawn(12, DIGITS)}-{drawn(12, DIGITS)}-{drawn(24)}"
    yield _of(f"I put xoxb-{p} into the app config and it says invalid_auth", p)
    p = drawn(40, BASE64)
    yield _of(
        f"aws configure\nAWS Access Key ID [None]: AKIA{drawn(16, UPPER + '234567')}\nAWS Secret Access Key [None]: {p}\nDefault region name [None]: eu-central-1",
        p,
    )
    p = drawn(40, BASE64)
    yield _of(f"aws_access_key_id AKIA{drawn(16, UPPER + '234567')} and {p} for the backup bucket", p)
    p = drawn(34) + "8Q~" + drawn(31, ALNUM + "_-.")
    yield _of(f"az login --service-principal -u {uuid()} -p {p} --tenant {uuid()}", p)
    p = drawn(43, ALNUM) + "%3D"
    yield _of(
        f"https://stmedia.blob.core.windows.net/raw/a.mp4?sv=2022-11-02&se=2026-12-01T00%3A00Z&sr=b&sp=r&sig={p} gives 403",
        p,
    )
    p = jwt()
    yield _of(f"supabase service role: {p}", p)
    p = drawn(32, HEX)
    yield _of(f"Twilio console: Account SID AC{drawn(32, HEX)} Auth Token {p}", p)
    p = drawn(35, ALNUM + "_-")
    yield _of(f'<script src="https://maps.googleapis.com/maps/api/js?key=AIza{p}&callback=init"></script>', p)
    p = drawn(48)
    yield _of(f'openai.api_key = "sk-proj-{p}"\nprint(openai.models.list())', p)
    p = drawn(34)
    yield _of(f"huggingface-cli login --token hf_{p} --add-to-git-credential", p)
    p = drawn(32, HEX)
    yield _of(
        f'DD_API_KEY={p} DD_SITE=datadoghq.eu bash -c "$(curl -L https://install.datadoghq.com/scripts/install_script_agent7.sh)"',
        p,
    )
    p = drawn(20)
    yield _of(f"glab auth login --hostname gitlab.acme.test --token glpat-{p}", p)
    p = drawn(22) + "_" + drawn(59)
    yield _of(f"git remote set-url origin https://x-access-token:github_pat_{p}@github.com/acme/site.git", p)
    p = password()
    yield _of(f"define( 'DB_NAME', 'wp' );\ndefine( 'DB_USER', 'wp' );\ndefine( 'DB_PASSWORD', '{p}' );", p)
    p = password()
    yield _of(f"<server>\n  <id>nexus</id>\n  <username>ci</username>\n  <password>{p}</password>\n</server>", p)
    p = drawn(22)
    yield _of(f'db_password = "{p}"\ndb_username = "app"\ninstance_class = "db.t3.medium"', p)
    p = drawn(64, HEX)
    yield _of(f"const wallet = new ethers.Wallet('0x{p}', provider); // hardhat deployer on sepolia", p)
    p = "guard velvet ocean hybrid twist lemon rapid fossil amount piano steel orbit"
    yield _of(f"metamask seed for the test wallet: {p}", p)
    p = drawn(32, UPPER + "234567")
    yield _of(f"otpauth://totp/AWS:admin@acme.test?secret={p}&issuer=AWS", p)
    p = password()
    yield _of(f"login as root with {p} on the jump host, then sudo su - deploy", p)
    p = password()
    yield _of(f"Credentials for the demo tenant: demo@acme.test / {p}", p)
    p = password()
    yield _of(f"パスワードは {p} です。ユーザー名は admin。ログインして確認してください。", p)
    p = password()
    yield _of(f"hasło do bazy testowej to {p}, użytkownik to tester", p)
    p = drawn(40, HEX)
    yield _of(f"curl 'https://api.example-metrics.io/v1/query?api_key={p}&q=cpu'", p)
    p = drawn(27)
    yield _of(f"kubectl create secret generic stripe --from-literal=apiKey=sk_live_{p} -n prod", p)
    p = password()
    yield _of(f'ANSIBLE: ansible_become_pass: "{p}"\nansible_user: ops', p)
    p = drawn(32)
    yield _of(
        f"Error: request failed with 401\n  config: {{ headers: {{ 'X-Api-Key': '{p}', Accept: 'application/json' }}, url: '/v1/items' }}",
        p,
    )
    p = password()
    yield _of(f"password: {p}\n\nso I ran: psql -U app, typed {p} and it still said authentication failed", p)
    p = drawn(30)
    yield _of(f'The token is {p}. I tried `gh api -H "Authorization: token {p}" /user` and got 401.', p)
    p = drawn(95, ALNUM + "_-")
    yield _of(f"claude says invalid x-api-key: export ANTHROPIC_API_KEY=sk-ant-api03-{p}", p)
    p = drawn(150, ALNUM + "_-")
    yield _of(f"[pypi]\n  username = __token__\n  password = pypi-AgEIcHlwaS5vcmc{p}", p)
    codes = [f"{drawn(5, LOWER + DIGITS)}-{drawn(5, LOWER + DIGITS)}" for _ in range(4)]
    yield _of("GitHub recovery codes:\n" + "\n".join(codes), *codes)
    p = drawn(32, HEX)
    yield _of(
        f"https://{p}@o44321.ingest.sentry.io/5512 is the DSN; and the auth token is sntrys_{(t := drawn(60))}", t
    )
    p = drawn(24)
    yield _of(f"reset link https://app.acme.test/reset-password?token={p}&email=jo@acme.test expires in 15 min", p)
    p = drawn(32, HEX)
    yield _of(f"mailgun: api:key-{p} https://api.mailgun.net/v3/mg.acme.test/messages", p)
    p = drawn(52, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")[:51]
    yield _of(f'bitcoin-cli importprivkey 5{p[:50]} "cold" false', p[:50])
    p = password()
    yield _of(f"openssl pkcs12 -in cert.p12 -nodes -passin pass:{p} -out cert.pem", p)
    p = drawn(40, HEX)
    yield _of(
        f"LINEAR=lin_api_{drawn(40)}\nFIGMA=figd_{(t := drawn(40, ALNUM + '_-'))}\nNOTION=ntn_{(u := drawn(46))}", t, u
    )
    p = drawn(64, HEX)
    yield _of(f"doctl auth init -t dop_v1_{p}", p)


def _of(text: str, *values: str) -> tuple[str, tuple[str, ...]]:
    assert all(value in text for value in values), text
    return text, values
