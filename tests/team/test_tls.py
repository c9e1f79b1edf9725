"""A connection that leaves this machine needs TLS, with a certificate of a trusted authority for the server's name."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from subconscious.domain.errors import TeamError
from subconscious.store.team import queries
from subconscious.store.team.address import Address
from subconscious.store.team.connection import Server
from tests.support.postgres import Postgres
from tests.support.proxy import Liar, Proxy

HOST = "db.example.org"


class Elsewhere(Address):
    """An address of another machine, whose name leads to loopback."""

    def parameters(self, password: str) -> dict[str, str]:
        return Address.parameters(self, password) | {"hostaddr": "127.0.0.1"}


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(subject: str, issuer: str, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
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
def certificates(tmp_path: Path) -> Callable[[str], tuple[ssl.SSLContext, str]]:
    """Makes a server's TLS settings for a name, and the file of the authority that has signed it."""

    def make(name: str) -> tuple[ssl.SSLContext, str]:
        folder = tmp_path / f"tls-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        root = (
            _builder("authority", "authority", authority.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(authority, hashes.SHA256())
        )
        signed = (
            _builder(name, "authority", key.public_key())
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


async def failure(port: int, authority: str, password: str = "dummy-password") -> str:
    """Return why a connection fails; "" if it succeeds."""
    server = Server(Elsewhere(HOST, port, "team", "ann", authority), password)
    try:
        await server.within(10.0, queries.hello)
    except TeamError as error:
        return error.message
    finally:
        await server.close()
    return ""


async def test_a_server_without_tls_is_refused() -> None:
    async def never(*_: object) -> None:
        raise AssertionError("a client that is refused TLS goes on")

    async with Liar(never) as liar:
        assert "does not support SSL" in await failure(liar.port, "system")


async def test_certificates_of_other_names_and_authorities_are_refused(
    server: Postgres, certificates: Callable[[str], tuple[ssl.SSLContext, str]]
) -> None:
    context, authority = certificates(HOST)
    _, other_authority = certificates(HOST)
    other_name, its_authority = certificates("evil.example.org")
    socket = f"{server.folder}/.s.PGSQL.{server.port or 5432}"
    async with Proxy(socket, tls=context) as proxy:
        assert "SSL error" in await failure(proxy.port, other_authority)
        assert "certificate verify failed" in await failure(proxy.port, "system")
        # TLS is fine here; this server does not ask for a password, as one that is not the real one would.
        assert "authentication" in await failure(proxy.port, authority)
    async with Proxy(socket, tls=other_name) as proxy:
        assert "does not match host name" in await failure(proxy.port, its_authority)
