"""Made-up secrets in realistic surroundings, drawn anew with a fixed seed, so that none stands in a file."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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


def pem_key(kind: str, lines: int = 8) -> str:
    """Return a block that looks like a key."""
    body = [drawn(64, BASE64) for _ in range(lines)]
    return "\n".join([f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"])


def recovery_codes() -> str:
    """Return codes as GitHub lists them."""
    return "\n".join(f"{drawn(5, LOWER + DIGITS)}-{drawn(5, LOWER + DIGITS)}" for _ in range(4))


def jwt() -> str:
    """Return something that looks like a signed token."""
    claims = encoded('{"sub":"' + drawn(8) + '","role":"service_role"}').rstrip("=")
    header = encoded('{"alg":"HS256","typ":"JWT"}')
    return f"{header}.{claims}.{drawn(43, ALNUM + '-_')}"


@dataclass(frozen=True, slots=True)
class Sample:
    """A text with ``{name}`` where a made-up value belongs, and what draws each value, in this order.

    Values with a name that starts with ``_`` are no secrets. Of a key in several lines, one line is.
    """

    text: str
    makers: dict[str, Callable[[], str]]

    def drawn(self) -> tuple[str, tuple[str, ...]]:
        """Return the text with new values, and the secrets among these."""
        text, secrets = self.text, []
        for name, maker in self.makers.items():
            value = maker()
            assert f"{{{name}}}" in text or name.startswith("_"), self.text
            text = text.replace(f"{{{name}}}", value)
            if not name.startswith("_"):
                secrets += {"pem": value.splitlines()[4:5], "codes": value.splitlines()}.get(name, [value])
        return text, tuple(secrets)


def _sample(text: str, **makers: Callable[[], str]) -> Sample:
    return Sample(text, makers)


SAMPLES = (
    _sample(
        "here's my .env\n```\nNODE_ENV=production\nPORT=3000\nDB_HOST=10.0.4.12\nDB_PASS={p}\nSESSION_SECRET={q}\nSENDGRID_KEY=SG.{_a}.{s}\n```\nwhy does the app not start?",
        p=password,
        q=lambda: drawn(24),
        s=lambda: drawn(40),
        _a=lambda: drawn(22),
    ),
    _sample(
        "curl -s -X POST https://api.acme.test/v2/deployments -H 'Authorization: Bearer {p}' -H 'content-type: application/json' -d '{\"ref\":\"main\"}'",
        p=lambda: drawn(36),
    ),
    _sample(
        "Das Passwort für den Staging-Server ist {p}, Benutzer ist deploy. Bitte nimm den für den Test.", p=password
    ),
    _sample(
        "le mot de passe de la base de recette c'est {p} , tu peux te connecter avec l'utilisateur app_ro", p=password
    ),
    _sample("la contraseña del admin de Grafana es {p} — entra y mira el panel de latencia", p=password),
    _sample("a senha do banco de homologação é {p}, usuário 'leitura'", p=password),
    _sample("пароль от тестовой базы: {p} (пользователь tester), проверь миграции", p=password),
    _sample("测试环境的数据库密码是 {p} ,用户名 root,帮我跑一下迁移", p=password),
    _sample(
        "I get 'invalid format' when I load this key:\n{pem}\nis there something wrong with the newlines?",
        pem=lambda: pem_key("RSA PRIVATE KEY"),
    ),
    _sample(
        "cat ~/.ssh/id_ed25519\n{pem}\n$ ssh -i ~/.ssh/id_ed25519 git@host",
        pem=lambda: pem_key("OPENSSH PRIVATE KEY", 6),
    ),
    _sample(
        "DATABASE_URL=postgresql://svc_orders:{p}@db-prod.internal:5432/orders?sslmode=require",
        p=lambda: password().replace("#", "x").replace("?", "y").replace("%", "z"),
    ),
    _sample(
        "mongodb+srv://appuser:{p}@cluster0.ab1cd.mongodb.net/shop?retryWrites=true&w=majority is what compass uses",
        p=lambda: drawn(18),
    ),
    _sample(
        '"ConnectionStrings": { "Default": "Server=sql01;Database=Billing;User Id=sa;Password={p};TrustServerCertificate=True" }',
        p=password,
    ),
    _sample(
        "DefaultEndpointsProtocol=https;AccountName=stmediaprod;AccountKey={p};EndpointSuffix=core.windows.net",
        p=lambda: drawn(86, BASE64) + "==",
    ),
    _sample(
        "GET /api/me HTTP/1.1\nHost: app.acme.test\nCookie: theme=dark; sessionid={p}; lang=de\nUser-Agent: Mozilla/5.0",
        p=lambda: drawn(32, LOWER + DIGITS),
    ),
    _sample(
        "< HTTP/2 200\n< set-cookie: connect.sid=s%3A{p}; Path=/; HttpOnly\n< content-type: application/json",
        p=lambda: drawn(32) + "." + drawn(43),
    ),
    _sample("  501  cd infra\n  502  mysql -h db01 -u root -p{p} shop < dump.sql\n  503  ls -la", p=lambda: drawn(16)),
    _sample(" 1200  sshpass -p '{p}' ssh admin@192.168.1.20 'systemctl restart app'", p=password),
    _sample("PGPASSWORD={p} psql -h localhost -U postgres -c 'select 1'", p=lambda: drawn(20)),
    _sample(
        "$ echo {p} | docker login registry.acme.test -u ci --password-stdin\nLogin Succeeded", p=lambda: drawn(27)
    ),
    _sample("redis-cli -h cache.internal -a {p} --no-auth-warning INFO memory", p=lambda: drawn(30, HEX)),
    _sample(
        "//npm.pkg.acme.test/:_authToken={p}\nalways-auth=true\nregistry=https://npm.pkg.acme.test/",
        p=lambda: drawn(36),
    ),
    _sample("machine git.acme.test\n  login jenkins\n  password {p}\n", p=lambda: drawn(19)),
    _sample(
        '{\n  "auths": {\n    "registry.acme.test": {\n      "auth": "{p}"\n    }\n  }\n}',
        p=lambda: encoded("ci-bot:" + drawn(20)),
    ),
    _sample(
        "settings.py has SECRET_KEY = 'django-insecure-{p}' and DEBUG = True",
        p=lambda: drawn(28, LOWER + DIGITS + "!@#%^&*(-_=+)"),
    ),
    _sample("production:\n  secret_key_base: {p}\n  log_level: info", p=lambda: drawn(128, HEX)),
    _sample("[Interface]\nPrivateKey = {p}\nAddress = 10.8.0.2/24\nDNS = 1.1.1.1", p=lambda: drawn(43, BASE64) + "="),
    _sample(
        "# created: 2026-01-04T10:00:00Z\n# public key: age1{_a}\nAGE-SECRET-KEY-1{p}",
        p=lambda: drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
        _a=lambda: drawn(58, LOWER + DIGITS),
    ),
    _sample(
        "users:\n- name: admin\n  user:\n    client-certificate-data: {_a}\n    client-key-data: {p}",
        p=lambda: encoded(pem_key("EC PRIVATE KEY", 5)),
        _a=lambda: encoded("-----BEGIN CERTIFICATE-----" + drawn(60)),
    ),
    _sample(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: {p}\n",
        p=lambda: encoded(password()),
    ),
    _sample(
        "Bot läuft jetzt, TELEGRAM={_bot}:{p} steht in der compose-Datei",
        _bot=lambda: drawn(10, DIGITS),
        p=lambda: drawn(35, ALNUM + "_-"),
    ),
    _sample(
        "client.login('{p}') // discord bot, move to config later",
        p=lambda: "M" + drawn(23) + "." + drawn(6) + "." + drawn(38, ALNUM + "_-"),
    ),
    _sample(
        "the slack webhook is https://hooks.slack.com/services/T{_a}/B{_b}/{p} use it for the alerts",
        p=lambda: drawn(24),
        _a=lambda: drawn(8, UPPER + DIGITS),
        _b=lambda: drawn(10, UPPER + DIGITS),
    ),
    _sample(
        "I put xoxb-{p} into the app config and it says invalid_auth",
        p=lambda: f"{drawn(12, DIGITS)}-{drawn(12, DIGITS)}-{drawn(24)}",
    ),
    _sample(
        "aws configure\nAWS Access Key ID [None]: AKIA{_a}\nAWS Secret Access Key [None]: {p}\nDefault region name [None]: eu-central-1",
        p=lambda: drawn(40, BASE64),
        _a=lambda: drawn(16, UPPER + "234567"),
    ),
    _sample(
        "aws_access_key_id AKIA{_a} and {p} for the backup bucket",
        p=lambda: drawn(40, BASE64),
        _a=lambda: drawn(16, UPPER + "234567"),
    ),
    _sample(
        "az login --service-principal -u {_a} -p {p} --tenant {_b}",
        p=lambda: drawn(34) + "8Q~" + drawn(31, ALNUM + "_-."),
        _a=uuid,
        _b=uuid,
    ),
    _sample(
        "https://stmedia.blob.core.windows.net/raw/a.mp4?sv=2022-11-02&se=2026-12-01T00%3A00Z&sr=b&sp=r&sig={p} gives 403",
        p=lambda: drawn(43, ALNUM) + "%3D",
    ),
    _sample("supabase service role: {p}", p=jwt),
    _sample("Twilio console: Account SID AC{_a} Auth Token {p}", p=lambda: drawn(32, HEX), _a=lambda: drawn(32, HEX)),
    _sample(
        '<script src="https://maps.googleapis.com/maps/api/js?key=AIza{p}&callback=init"></script>',
        p=lambda: drawn(35, ALNUM + "_-"),
    ),
    _sample('openai.api_key = "sk-proj-{p}"\nprint(openai.models.list())', p=lambda: drawn(48)),
    _sample("huggingface-cli login --token hf_{p} --add-to-git-credential", p=lambda: drawn(34)),
    _sample(
        'DD_API_KEY={p} DD_SITE=datadoghq.eu bash -c "$(curl -L https://install.datadoghq.com/scripts/install_script_agent7.sh)"',
        p=lambda: drawn(32, HEX),
    ),
    _sample("glab auth login --hostname gitlab.acme.test --token glpat-{p}", p=lambda: drawn(20)),
    _sample(
        "git remote set-url origin https://x-access-token:github_pat_{p}@github.com/acme/site.git",
        p=lambda: drawn(22) + "_" + drawn(59),
    ),
    _sample("define( 'DB_NAME', 'wp' );\ndefine( 'DB_USER', 'wp' );\ndefine( 'DB_PASSWORD', '{p}' );", p=password),
    _sample("<server>\n  <id>nexus</id>\n  <username>ci</username>\n  <password>{p}</password>\n</server>", p=password),
    _sample('db_password = "{p}"\ndb_username = "app"\ninstance_class = "db.t3.medium"', p=lambda: drawn(22)),
    _sample(
        "const wallet = new ethers.Wallet('0x{p}', provider); // hardhat deployer on sepolia", p=lambda: drawn(64, HEX)
    ),
    _sample(
        "metamask seed for the test wallet: {p}",
        p=lambda: "guard velvet ocean hybrid twist lemon rapid fossil amount piano steel orbit",
    ),
    _sample("otpauth://totp/AWS:admin@acme.test?secret={p}&issuer=AWS", p=lambda: drawn(32, UPPER + "234567")),
    _sample("login as root with {p} on the jump host, then sudo su - deploy", p=password),
    _sample("Credentials for the demo tenant: demo@acme.test / {p}", p=password),
    _sample("パスワードは {p} です。ユーザー名は admin。ログインして確認してください。", p=password),
    _sample("hasło do bazy testowej to {p}, użytkownik to tester", p=password),
    _sample("curl 'https://api.example-metrics.io/v1/query?api_key={p}&q=cpu'", p=lambda: drawn(40, HEX)),
    _sample("kubectl create secret generic stripe --from-literal=apiKey=sk_live_{p} -n prod", p=lambda: drawn(27)),
    _sample('ANSIBLE: ansible_become_pass: "{p}"\nansible_user: ops', p=password),
    _sample(
        "Error: request failed with 401\n  config: { headers: { 'X-Api-Key': '{p}', Accept: 'application/json' }, url: '/v1/items' }",
        p=lambda: drawn(32),
    ),
    _sample("password: {p}\n\nso I ran: psql -U app, typed {p} and it still said authentication failed", p=password),
    _sample('The token is {p}. I tried `gh api -H "Authorization: token {p}" /user` and got 401.', p=lambda: drawn(30)),
    _sample(
        "claude says invalid x-api-key: export ANTHROPIC_API_KEY=sk-ant-api03-{p}", p=lambda: drawn(95, ALNUM + "_-")
    ),
    _sample("[pypi]\n  username = __token__\n  password = pypi-AgEIcHlwaS5vcmc{p}", p=lambda: drawn(150, ALNUM + "_-")),
    _sample("GitHub recovery codes:\n{codes}", codes=recovery_codes),
    _sample(
        "https://{_p}@o44321.ingest.sentry.io/5512 is the DSN; and the auth token is sntrys_{t}",
        _p=lambda: drawn(32, HEX),
        t=lambda: drawn(60),
    ),
    _sample(
        "reset link https://app.acme.test/reset-password?token={p}&email=jo@acme.test expires in 15 min",
        p=lambda: drawn(24),
    ),
    _sample("mailgun: api:key-{p} https://api.mailgun.net/v3/mg.acme.test/messages", p=lambda: drawn(32, HEX)),
    _sample(
        'bitcoin-cli importprivkey 5{p} "cold" false',
        p=lambda: drawn(52, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")[:50],
    ),
    _sample("openssl pkcs12 -in cert.p12 -nodes -passin pass:{p} -out cert.pem", p=password),
    _sample(
        "LINEAR=lin_api_{_a}\nFIGMA=figd_{t}\nNOTION=ntn_{u}",
        _p=lambda: drawn(40, HEX),
        _a=lambda: drawn(40),
        t=lambda: drawn(40, ALNUM + "_-"),
        u=lambda: drawn(46),
    ),
    _sample("doctl auth init -t dop_v1_{p}", p=lambda: drawn(64, HEX)),
)
"""Even places are half 1, odd ones half 2."""


def samples() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield texts with the values that must go."""
    _random.seed(190119)
    for sample in SAMPLES:
        yield sample.drawn()
