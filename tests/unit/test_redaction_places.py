"""Secrets in sentences, commands, forms, tables and pairs of fields; values are made up at run time."""

from __future__ import annotations

import json
import random
import string

import pytest

from subconscious.redaction import Redacted, redact

DRAWN = random.Random(11)
PASSWORD = "Nebel-" + "Birne" + "40519!"
HEX = "".join(DRAWN.choice("0123456789abcdef") for _ in range(40))
BASE64 = ["".join(DRAWN.choice("ABCDefgh0123456789+/") for _ in range(64)) for _ in range(5)]

CONTENT_IDS = (
    "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG",
    "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
    "k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8",
)

STATE = {
    "mode": "managed",
    "type": "random_password",
    "name": "db",
    "instances": [
        {
            "attributes": {
                "bcrypt_hash": "$2a$10$" + "".join(DRAWN.choice(string.ascii_letters) for _ in range(53)),
                "keepers": {"kiln": "1"},
                "length": 16,
                "result": "{}",
                "special": True,
            }
        }
        for _ in range(2)
    ],
}
"""A resource in a state file of Terraform."""


@pytest.mark.parametrize(
    "line",
    [
        "please use {} as password for the seed user",
        "{} is the admin password on the kiln",
        "nimm {} als Passwort f\u00fcr den Brenner",
        "Passwort {} geht nicht mehr",
        "das Passwort wurde auf {} gesetzt",
        "the password to staging is {}",
        "the router's password's {} if you need it",
        "j'ai chang\u00e9 le mot de passe en {}",
        "creds are admin/{}",
        "die Zugangsdaten sind admin / {}",
        "melde dich mit admin und {} an",
        "sign in with qa@kiln.test and {}",
        "rabbitmqadmin -u ops -p {} list queues",
        "7za x dump.7z -p{}",
        "unzip -P {} dump.zip",
        "openssl enc -d -aes256 -in a -out b -k {}",
        "htpasswd -nbB ops {}",
        "echo {} | sudo -S systemctl restart kiln",
        'echo "ops:{}" | sudo chpasswd',
        "printf '{}' | docker login kiln.test -u ci --password-stdin",
        "gh secret set SIGNING --body '{}'",
        "kubectl create secret generic db --from-literal=pw={}",
        'expect "Password:" send "{}\\r"',
        '- name: DB_PASSWORD\n  value: "{}"',
        '{"name": "SMTP_PASSWORD", "value": "{}"}',
        '{"db_password":{"value":"{}","type":"string","sensitive":true},"port":5432}',
        '"adminPassword": {\n  "sensitive": true,\n  "value": "{}"\n}',
        "await page.fill('#password', '{}')",
        "page.getByLabel('Password').fill('{}')",
        "cy.get('[name=password]').type('{}')",
        "db_password\n  Input is no URL [type=url, input_value='{}', input_type=str]",
        "| stage | user | password |\n|---|---|---|\n| test | kiln | {} |",
        " user | db_password\n------+-------------\n kiln | {}",
        "\u2502 Name \u2502 Passwort \u2502\n\u251c\u2500\u2500\u253c\u2500\u2500\u2524\n\u2502 kiln \u2502 {} \u2502",
        "WIFI:S:kiln;T:WPA;P:{};;",
        "kiln:{}@tcp(db:3306)/shop",
        '<entry key="db.password">{}</entry>',
        'const pw = process.env.DB_PASSWORD ?? "{}"',
        "password      {}",
    ],
)
def test_a_password_is_known_by_its_place(line: str) -> None:
    assert PASSWORD not in redact(line.replace("{}", PASSWORD)).text


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("password", [PASSWORD, "$Nebel\\u003c40519%", "nebelbirneofen"])
def test_the_password_in_a_state_of_terraform_is_redacted(indent: int | None, password: str) -> None:
    redacted = redact(json.dumps(STATE, indent=indent).replace("{}", password)).text
    assert password not in redacted
    state = json.loads(redacted)
    assert (state["type"], state["name"]) == ("random_password", "db")


@pytest.mark.parametrize("before", ["true", "null", "0"])
def test_a_password_after_a_field_without_one_is_redacted(before: str) -> None:
    line = f'{{"password":{before},"db_password":{{}},"port":5432}}'
    assert redact(line.replace("{}", f'"{PASSWORD}"')).text == line.replace("{}", '"[redacted: password]"')


@pytest.mark.parametrize("start", ["true", "none", "12345", "0,5"])
def test_a_password_may_begin_like_a_boolean_or_a_number(start: str) -> None:
    assert redact(f"password:{start}{PASSWORD}").text == "password:[redacted: password]"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("     2\tAPP_KEY={}\n", HEX[:32]),
        ("fatal: unable to access 'https://{}@git.kiln.test/app/': 403", HEX + "zQ7"),
        ("it said {} is the one", "b4_" + HEX[:16] + "QwErTzUiOpAsDfGh"),
        (".kiln.test\tTRUE\t/\tTRUE\t1790000000\tPHPSESSID\t{}", HEX[:26]),
        ("der Schl\u00fcssel f\u00fcr die API ist {}", "aB3" + HEX[:20] + "Zx9Q"),
        ("the 2FA setup key is {}, what is the code?", "a2gd ploe nabc bfr3 z2yl k54t a3zr xks6"),
        ("oathtool --totp -b {}", "5NB2FHV6" + "GYL5C4J3"),
        ("Backup codes:\n{}", "2845 1735\n0285 2478\n4262 9823"),
        ("$ tail -4 key.pem\n{}\n-----END RSA PRIVATE KEY-----", "\n".join(BASE64) + "\nqmA7=="),
    ],
)
def test_keys_are_known_by_their_place(line: str, value: str) -> None:
    redacted = redact(line.format(value)).text
    assert [part for part in value.splitlines() if part in redacted] == []


@pytest.mark.parametrize(
    "text",
    [
        "docker run -u 1000:1000 -p 8080:80 nginx2",
        "ssh -l root -p 2222 kiln.test",
        "use 1Password8 as password manager",
        "bcrypt12 is the password hash",
        "creds are in the vault, see docs/kiln2.md",
        "die Zugangsdaten liegen im Tresor unter Team2",
        "melde dich mit dem Testbenutzer an und pr\u00fcfe Schritt2",
        "page.getByLabel('Password').fill(user.password)",
        "| Column | password |\n|---|---|\n| type | varchar(255) |",
        "| key | value |\n|---|---|\n| retries | three3 |",
        "- name: DB_PASSWORD_FILE\n  value: /run/secrets/db1",
        "- name: DB_PASSWORD\n  value: ${DB_PASSWORD}",
        "echo hello1 | sudo tee /etc/kiln2",
        "otp codes are valid for 30 seconds",
        f"commit {HEX}",
        f"userid {HEX[:32]}",
        "password    varchar(255) NOT NULL",
        "-----END RSA PRIVATE KEY-----",
        '{"password":true,"user":{"id":42,"mail":"ada1@k1.test"},"items":[1,2]}',
        '[{"name":"ada","password":null},{"mail":"ada1@k1.test!"}]',
        '{"login":{"password":12345},"mail":"ada1@k1.test!"}',
        "connect(password=None,user='ada1@k1.test!')",
        "password:false,mail:ada1@k1.test!",
        '{"mode":"managed","type":"random_password","name":"db_password","instances":[]}',
        '"type": "random_password",\n"name": "kiln42"',
        *(f"added {cid} kiln.png" for cid in CONTENT_IDS),
        *(f'root = "{cid}"' for cid in CONTENT_IDS),
        *(f"the key {cid} is pinned, see ipfs://{cid}/1" for cid in CONTENT_IDS),
    ],
)
def test_ordinary_lines_stay(text: str) -> None:
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize("value", ["Tulpen" + "42", "Zeebonk" + "99"])
@pytest.mark.parametrize(
    "line",
    [
        "db password: {}, staging db is on port 6543",
        "rws portal login is kit, pw {}",
        "rws account: kit:{}",
        "login for the rws portal is kit / {}",
        "creds are kit/{}",
        "log in with kit/{}",
        "user kit, pass {}",
        "user: kit pass: {}",
        "the password for staging is {} until friday",
        "password (staging): {}",
        "the db password was changed to {}",
        "use {} as the password",
        "what is the db password?\nits {}",
        "das Passwort wurde auf {} gesetzt",
        "Zugangsdaten: kit / {}",
        "le mot de passe de la base est {}",
        "mdp : {}, port 6543",
        "la contrase\u00f1a de staging es {}",
        "la clave es {}",
        "a senha do banco \u00e9 {}, porta 6543",
        "\u5bc6\u7801\u662f{}",
        "DB_PASSWORD={}",
        "db_pw: {}",
        "secret: {}",
        "client_secret={}",
        '{"password": "{}", "port": 1}',
        "deploy --password {}",
        "deploy --db-passwd={}",
        "restic --new-passphrase '{}'",
        "net use --pwd {}",
        "| user | password |\n|---|---|\n| kit | {} |",
    ],
)
def test_a_word_with_a_number_beside_its_name_is_a_password(line: str, value: str) -> None:
    redacted = redact(line.replace("{}", value)).text
    assert value not in redacted
    assert "[redacted: " in redacted


@pytest.mark.parametrize(
    "line",
    [
        "please change the password to {}",
        "set the password of web01 to {}",
        "das Passwort wurde auf {} gesetzt",
        "j'ai chang\u00e9 le mot de passe en {}",
        "le mot de passe a \u00e9t\u00e9 chang\u00e9 en {}",
        "cambi\u00e9 la contrase\u00f1a a {}",
        "mudei a senha para {}",
        "wachtwoord gewijzigd naar {}",
        "what is the db password?\n{}",
        "what is the db password?\nit's {} i think",
        "{} is the password for staging",
        "la clave: {}",
    ],
)
def test_a_new_password_in_lower_case_is_redacted(line: str) -> None:
    value = "tulpen" + "42"
    assert value not in redact(line.replace("{}", value)).text


@pytest.mark.parametrize("line", ["das Passwort wurde auf {} ge\u00e4ndert", "setz das Passwort auf {}"])
def test_a_capitalised_word_with_a_number_is_no_host(line: str) -> None:
    assert "Tulpen42" not in redact(line.replace("{}", "Tulpen" + "42")).text


def test_a_password_may_contain_a_well_known_example() -> None:
    assert "hunter2" not in redact("db password on staging is " + "hunter2" + "tide, port 5432").text


@pytest.mark.parametrize(
    "text",
    [
        "hash the password with sha256 or bcrypt12",
        "the password is base64 in the header",
        "the password is stored in config12",
        "password: string2 | null",
        "password reset is in sprint42",
        "const password = field2",
        "{ password: input1, user: input2 }",
        "pass Foo123 to the parser",
        "we log in with Chrome and Firefox115",
        "account: see docs/kiln2.md",
        "credentials are in vault/team42",
        "account: eu-west/prod01",
        "login form lives in src/Login42.tsx",
        "el login usa OAuth2 / OpenID",
        "mot de passe hach\u00e9 avec Argon2",
        "passwort zur\u00fccksetzen in Ticket42",
        "the key is Enter13",
        "primary key: Order42",
        "TOKEN_TTL=Hours24",
        "the password to web01 is in 1password",
        "the password to nas0101 is in the safe, back up nas0101",
        "das Passwort auf web01 ist abgelaufen",
        "das Passwort auf web01 wurde ge\u00e4ndert",
        "ich habe das Passwort auf web01 ge\u00e4ndert",
        "setz das Passwort auf Fedora40 zur\u00fcck",
        "la contrase\u00f1a para web01 caduca",
        "cambia la contrase\u00f1a en web01",
        "a senha para web01 expira",
        "wachtwoord op web01 is verlopen",
        "why does sudo ask for a password?\non fedora40 it doesn't",
        "la clave del pedido es pedido42",
        "Keycloak24 is our password server",
        "blender --render-pass shadow01",
        "generate --max-token output64",
        "helm install --image-pull-secret regcred01",
        "Token: Sprache12",
        "token: Monday12",
    ],
)
def test_a_word_with_a_number_elsewhere_stays(text: str) -> None:
    assert redact(text) == Redacted(text)


@pytest.mark.parametrize("line", ["tool --pass {} run", "mysql -u root --password {} shop", "mysql -u root -p{} shop"])
def test_the_value_of_a_password_option_is_redacted_alone(line: str) -> None:
    value = "Tulpen" + "42"
    assert redact(line.replace("{}", value)).text == line.replace("{}", "[redacted: password]")
