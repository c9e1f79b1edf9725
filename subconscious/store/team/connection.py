"""Connections to a team's store, with limits on time, received bytes and attempts.

Every call has a deadline. After a failure, no attempt is made for 5 seconds; further failures double this pause, up to
5 minutes. A statement's result is counted in bytes as it arrives, because a malicious server may ignore a LIMIT.
"""

from __future__ import annotations

import asyncio
import fcntl
import struct
import termios
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import psycopg
from psycopg import AsyncConnection, errors, waiting
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from subconscious.domain.errors import TeamError, TeamRefusedError
from subconscious.store.team.address import CONNECT_SECONDS, Address

if TYPE_CHECKING:
    from psycopg.abc import PQGen

T = TypeVar("T")
P = ParamSpec("P")
Connection = AsyncConnection[TupleRow]

MOST_BYTES = 16 << 20
"""The maximum number of bytes that a server may send for one statement: 200 versions of 64 KB are 13 MB."""

SECONDS = 20.0
"""The maximum number of seconds for one request, unless the caller sets another limit."""

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
"""The shortest and the longest pause after a failure, in seconds."""

REFUSALS = (
    errors.InsufficientPrivilege,
    errors.IntegrityError,
    errors.DataError,
    errors.ProgramLimitExceeded,
    errors.ObjectNotInPrerequisiteState,
    errors.UndefinedObject,
)
"""Errors with which a working server rejects a single request."""


WAITS = "nothing is lost: memories will be exchanged when the server answers again"
CERTIFICATE = (
    "the server needs TLS and an unexpired certificate for its name; for a certificate authority of your own, add to"
    " the address: ?sslrootcert=/etc/ssl/team-ca.crt"
)
"""The advice for an error of the server's certificate."""


class TooMuchError(psycopg.OperationalError):
    """The server sent more than ``MOST_BYTES`` for one statement."""


class BoundedConnection(AsyncConnection[TupleRow]):
    """A connection that counts the bytes that arrive, and that is closed when a caller is cancelled."""

    failures: ClassVar[list[str]] = []
    """The latest failure to connect. The pool does not report it: its own error is only a timeout."""

    @classmethod
    async def connect(cls, *args: Any, **named: Any) -> Self:
        """Connect; if that fails, record the reason in ``failures``."""
        try:
            return await super().connect(*args, **named)
        except (psycopg.Error, OSError) as error:
            cls.failures[:] = [_words(error)]
            raise

    async def wait(
        self,
        gen: PQGen[Any],
        interval: float = 0.1,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is psycopg's
    ) -> Any:
        """Run a statement's generator. If the call is cancelled or receives too much, close the connection at once."""
        try:
            counted = _counted(gen, self.pgconn.socket)
            return await waiting.wait_async(counted, self.pgconn.socket, interval=interval, timeout=timeout)
        except (asyncio.CancelledError, TooMuchError):
            self.pgconn.finish()
            raise


def _counted(gen: PQGen[Any], descriptor: int) -> Generator[Any, Any, Any]:
    """Yield from a generator, and count the bytes that wait in the socket before each read."""
    received = 0
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            received += _waiting_bytes(descriptor)
            if received > MOST_BYTES:
                gen.close()
                raise TooMuchError("the server sent more data than was requested")
            wanted = gen.send(ready)
    except StopIteration as done:
        return done.value


def _waiting_bytes(descriptor: int) -> int:
    try:
        return int(struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))[0])
    except OSError:
        return 0


def _words(error: BaseException) -> str:
    """Return an error's message, in one line. The server's details are left out, because they may quote rows."""
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    text = " ".join((said or str(error)).split()) or type(error).__name__
    return "".join(sign for sign in text if sign.isprintable())[:300]


class Breaker:
    """A circuit breaker: after each failure, no attempt to contact the server is allowed for a while."""

    def __init__(self) -> None:
        self._pause = 0.0
        self._closed_until = 0.0
        self.error = ""

    @property
    def seconds_left(self) -> float:
        """Seconds until the next attempt is allowed; 0 if it is allowed now."""
        return max(0.0, self._closed_until - monotonic())

    def failed(self, error: str) -> None:
        """Record a failure of the server."""
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or FIRST_PAUSE)
        self._closed_until = monotonic() + self._pause
        self.error = error

    def succeeded(self) -> None:
        """Record that the server answered."""
        self._pause = self._closed_until = 0.0
        self.error = ""

    def forgive(self) -> None:
        """Allow an attempt to connect at once, because a person asks for it."""
        self._closed_until = 0.0


class Server:
    """A team's store with one person's login: runs all requests to the server, with limits."""

    def __init__(self, address: Address, password: str) -> None:
        self.address = address
        self.breaker = Breaker()
        self._password = password
        # The pool creates connections from a class. Each server has its own class, and so its own ``failures``.
        self._kind: type[BoundedConnection] = type("TeamConnection", (BoundedConnection,), {"failures": []})
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()

    async def run(
        self, work: Callable[Concatenate[Connection, P], Awaitable[T]], *args: P.args, **named: P.kwargs
    ) -> T:
        """Run ``work`` on a connection with autocommit within ``SECONDS``, and return its result; see ``within``."""
        return await self.within(SECONDS, work, *args, **named)

    async def within(
        self,
        seconds: float,
        work: Callable[Concatenate[Connection, P], Awaitable[T]],
        *args: P.args,
        **named: P.kwargs,
    ) -> T:
        """Run ``work`` on a connection with autocommit within a number of seconds, and return its result.

        A cancelled request counts as a failure of the server. Raises TeamError if the server can't be reached in time,
        TeamRefusedError if it refuses the request.
        """
        if self.breaker.seconds_left:
            raise TeamError(self.breaker.error, f"the next attempt is in {self.breaker.seconds_left:.0f} seconds")
        try:
            async with asyncio.timeout(seconds):
                pool = await self._opened()
                async with pool.connection(timeout=min(seconds, CONNECT_SECONDS)) as connection:
                    result = await work(connection, *args, **named)
        except asyncio.CancelledError:
            self.breaker.failed("the team's store was too slow")
            raise
        except REFUSALS as error:
            self.breaker.succeeded()
            raise TeamRefusedError(_words(error), "run `subconscious team` to see your role") from error
        except errors.LockNotAvailable as error:
            self.breaker.succeeded()  # the server works, so searches must stay possible
            raise TeamError(
                "other members are writing to this project", "your memories will be sent with the next exchange"
            ) from error
        except (TimeoutError, PoolTimeout) as error:
            limit = min(seconds, CONNECT_SECONDS) if isinstance(error, PoolTimeout) else seconds
            why = next(iter(self._kind.failures), f"it does not answer within {limit:g} seconds")
            raise self._unreachable(why) from error
        except (psycopg.Error, OSError, ValueError, RecursionError) as error:
            raise self._unreachable(_words(error)) from error
        finally:
            self._kind.failures.clear()
        self.breaker.succeeded()
        return result

    def _unreachable(self, why: str) -> TeamError:
        why = why.replace(self._password, "…") if self._password else why
        message = f"the team's store can't be used: {why}"
        self.breaker.failed(message)
        return TeamError(message, CERTIFICATE if "SSL" in why or "certificate" in why else WAITS)

    async def _opened(self) -> AsyncConnectionPool[Connection]:
        async with self._opening:
            if self._pool is None:
                pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
                    # With autocommit, a statement takes one round trip instead of three, and holds locks only briefly.
                    kwargs={**self.address.parameters(self._password), "autocommit": True},
                    connection_class=self._kind,
                    configure=_configure,
                    min_size=0,
                    max_size=3,
                    max_idle=60.0,
                    max_lifetime=1800.0,
                    reconnect_timeout=1.0,
                    num_workers=1,
                    open=False,
                    name="team",
                )
                await pool.open(wait=False)
                self._pool = pool
            return self._pool

    async def close(self) -> None:
        """Close all connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(psycopg.Error, OSError, TimeoutError):
                await pool.close(timeout=1.0)


async def _configure(connection: Connection) -> None:
    """Switch off prepared statements.

    A connection pooler before the server may send the next statement on another connection.
    """
    connection.prepare_threshold = None
