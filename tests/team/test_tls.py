"""A connection that leaves this machine needs TLS, with a certificate of a trusted authority for the server's name."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from subconscious.domain.errors import TeamError
from subconscious.store.team import queries
from subconscious.store.team.address import PASSWORD_FILE, Address
from subconscious.store.team.connection import Server
from subconscious.system.safe_files import replace_file
from subconscious.team.background import of
from tests.support.postgres import Postgres
from tests.support.proxy import Liar, Proxy
from tests.team.conftest import People

HOST = "db.example.org"
PASSWORD = "dummy-password"

Certificates = Callable[..., tuple[ssl.SSLContext, str]]


class Elsewhere(Address):
    """An address of another machine, whose name leads to loopback."""

    def parameters(self, password: str) -> dict[str, str]:
        return Address.parameters(self, password) | {"hostaddr": "127.0.0.1"}


def socket_of(server: Postgres) -> str:
    return f"{server.folder}/.s.PGSQL.{server.port or 5432}"


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePublicKey, *, days_ago: int = 0
) -> x509.CertificateBuilder:
    now = datetime.now(UTC) - timedelta(days=days_ago)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    """Makes a server's TLS settings for a name, and the file of the authority that has signed it."""

    def make(name: str, *, days_ago: int = 0) -> tuple[ssl.SSLContext, str]:
        folder = tmp_path / f"tls-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        root = (
            _builder("authority", "authority", authority.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(authority, hashes.SHA256())
        )
        signed = (
            _builder(name, "authority", key.public_key(), days_ago=days_ago)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(authority, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        (folder / "ca.crt").write_bytes(root.public_bytes(pem))
        (folder / "server.crt").write_bytes(signed.public_bytes(pem))
        (folder / "server.key").write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.crt", folder / "server.key")
        return context, str(folder / "ca.crt")

    return make


async def failure(port: int, authority: str, database: str = "team", person: str = "ann") -> str:
    """Return why a connection fails, and what to do; "" if it succeeds."""
    server = Server(Elsewhere(HOST, port, database, person, authority), PASSWORD)
    try:
        await server.within(10.0, queries.hello)
    except TeamError as error:
        return f"{error.message}; {error.remedy}"
    finally:
        await server.close()
    return ""


async def test_a_server_without_tls_is_refused() -> None:
    async def never(*_: object) -> None:
        raise AssertionError("a client that is refused TLS goes on")

    async with Liar(never) as liar:
        said = await failure(liar.port, "system")
    assert "does not support SSL" in said
    assert "the server needs TLS" in said


@pytest.fixture
def dora(server: Postgres) -> Iterator[str]:
    """A person whom the server asks for a password."""
    server.sql(f"CREATE ROLE dora LOGIN PASSWORD '{PASSWORD}' IN ROLE subconscious_member")
    rules = server.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text("local all dora scram-sha-256\n" + before)
    server.sql("SELECT pg_reload_conf()")
    yield "dora"
    rules.write_text(before)
    server.sql("SELECT pg_reload_conf()")
    server.sql("DROP ROLE dora")


@pytest.fixture
def name_leads_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each name of another machine lead to loopback, while the certificate is compared with the name."""
    original = Address.parameters

    def parameters(self: Address, password: str) -> dict[str, str]:
        return original(self, password) | ({} if self.is_local else {"hostaddr": "127.0.0.1"})

    monkeypatch.setattr(Address, "parameters", parameters)


@pytest.mark.usefixtures("name_leads_here")
async def test_a_team_works_over_tls_with_a_password(
    people: People, server: Postgres, dora: str, certificates: Certificates
) -> None:
    context, authority = certificates(HOST)
    async with Proxy(socket_of(server), tls=context) as proxy:
        store = f"postgresql://{dora}@{HOST}:{proxy.port}/{server.database}?sslrootcert={authority}"
        person = await people.person(dora, store)
        replace_file(person.app.home.root / PASSWORD_FILE, PASSWORD.encode())
        await person.ask("team_join", name="shop", create=True)
        await person.share("Amounts are kept in integer cents.")
        assert (await person.sync()).sent == 1
        await person.ask("team_member", person="ann", role="author")
        ann = await people.person("ann", server.url("ann"))
        await ann.ask("team_join", name="shop")
        await ann.share("Deploys happen on Mondays.")
        await ann.sync()
        assert [hit["by"] for hit in await person.search("when do deploys happen?")] == ["ann"]
        assert proxy.connections >= 1
        replace_file(person.app.home.root / PASSWORD_FILE, b"another")
        with pytest.raises(TeamError, match="password authentication failed"):
            await person.sync()
        await of(person.app).close()
    assert server.sql("SELECT author FROM subconscious.versions ORDER BY change") == [("dora",), ("ann",)]


async def test_certificates_that_do_not_prove_the_server_are_refused(
    server: Postgres, dora: str, certificates: Certificates
) -> None:
    context, authority = certificates(HOST)
    _, other_authority = certificates(HOST)
    other_name, its_authority = certificates("evil.example.org")
    expired, old_authority = certificates(HOST, days_ago=10)

    async def refusal(proxy: Proxy, named: str) -> str:
        said = await failure(proxy.port, named, server.database, dora)
        assert "for a certificate authority of your own, add to the address: ?sslrootcert=" in said
        return said

    async with Proxy(socket_of(server), tls=context) as proxy:
        assert await failure(proxy.port, authority, server.database, dora) == ""
        assert "SSL error" in await refusal(proxy, other_authority)
        assert "certificate verify failed" in await refusal(proxy, "system")
        # TLS is fine here; Ann is asked for no password, as one by a server that is not the real one would be.
        assert "authentication" in await failure(proxy.port, authority, server.database, "ann")
    async with Proxy(socket_of(server), tls=other_name) as proxy:
        assert "does not match host name" in await refusal(proxy, its_authority)
    async with Proxy(socket_of(server), tls=expired) as proxy:
        assert "certificate verify failed" in await refusal(proxy, old_authority)
    assert server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'subconscious'") == [(0,)]
