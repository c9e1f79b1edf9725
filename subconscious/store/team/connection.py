"""Connections to a team's store that can't hang, grow without limit or be hammered.

Every call has a deadline. After a failure, the server is left alone for a while that doubles up to five minutes. What
one statement may return is limited in bytes while it arrives, because a server that lies keeps to no LIMIT.
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
"""Bytes that a server may send for one statement: 200 versions of 64 KB are 13 MB."""

SECONDS = 20.0
"""Seconds for one request, unless its caller says otherwise."""

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
"""Seconds without an attempt after a failure."""

REFUSALS = (
    errors.InsufficientPrivilege,
    errors.IntegrityError,
    errors.DataError,
    errors.ProgramLimitExceeded,
    errors.ObjectNotInPrerequisiteState,
    errors.UndefinedObject,
)
"""Errors by which a server that works refuses one request."""


WAITS = "nothing is lost: it is sent and read when the server answers again"
CERTIFICATE = (
    "the server needs TLS and a certificate for its name that has not expired; an authority of your own is named in the"
    " address: ?sslrootcert=/etc/ssl/team-ca.crt"
)
"""What to do about a server that can't be used."""


class TooMuchError(psycopg.OperationalError):
    """The server sent more than a statement may return."""


class BoundedConnection(AsyncConnection[TupleRow]):
    """A connection that counts what arrives, and that is dropped when a caller gives up."""

    failures: ClassVar[list[str]] = []
    """The latest failure to connect. The pool keeps it to itself, and only says that it took too long."""

    @classmethod
    async def connect(cls, *args: Any, **named: Any) -> Self:
        """Connect, and note why that failed."""
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
        """Run a statement's generator. A cancelled one is not waited for: the connection is closed."""
        try:
            counted = _counted(gen, self.pgconn.socket)
            return await waiting.wait_async(counted, self.pgconn.socket, interval=interval, timeout=timeout)
        except (asyncio.CancelledError, TooMuchError):
            self.pgconn.finish()
            raise


def _counted(gen: PQGen[Any], descriptor: int) -> Generator[Any, Any, Any]:
    """Pass a generator on, and count what waits in the socket each time before it is read."""
    received = 0
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            received += _waiting_bytes(descriptor)
            if received > MOST_BYTES:
                gen.close()
                raise TooMuchError("the server sent more than it was asked for")
            wanted = gen.send(ready)
    except StopIteration as done:
        return done.value


def _waiting_bytes(descriptor: int) -> int:
    try:
        return int(struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))[0])
    except OSError:
        return 0


def _words(error: BaseException) -> str:
    """Return an error in one line. The details that a server adds may quote rows, and are left out."""
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    text = " ".join((said or str(error)).split()) or type(error).__name__
    return "".join(sign for sign in text if sign.isprintable())[:300]


class Breaker:
    """Decides whether the server may be asked: not for a while after it failed."""

    def __init__(self) -> None:
        self._pause = 0.0
        self._closed_until = 0.0
        self.error = ""

    @property
    def seconds_left(self) -> float:
        """Seconds until the next attempt; 0 if the server may be asked."""
        return max(0.0, self._closed_until - monotonic())

    def failed(self, error: str) -> None:
        """Note a failure."""
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or FIRST_PAUSE)
        self._closed_until = monotonic() + self._pause
        self.error = error

    def succeeded(self) -> None:
        """Note an answer."""
        self._pause = self._closed_until = 0.0
        self.error = ""

    def forgive(self) -> None:
        """Allow an attempt at once, because a person asks for one."""
        self._closed_until = 0.0


class Server:
    """A team's store as one person reaches it."""

    def __init__(self, address: Address, password: str) -> None:
        self.address = address
        self.breaker = Breaker()
        self._password = password
        # A class of this server's own, since the pool makes its connections from a class.
        self._kind: type[BoundedConnection] = type("TeamConnection", (BoundedConnection,), {"failures": []})
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()

    async def run(
        self, work: Callable[Concatenate[Connection, P], Awaitable[T]], *args: P.args, **named: P.kwargs
    ) -> T:
        """Return the result of ``work`` on a connection, which commits each statement; see ``within``."""
        return await self.within(SECONDS, work, *args, **named)

    async def within(
        self,
        seconds: float,
        work: Callable[Concatenate[Connection, P], Awaitable[T]],
        *args: P.args,
        **named: P.kwargs,
    ) -> T:
        """Return the result of ``work``, within so many seconds.

        Raises TeamError if the server can't be reached in time, TeamRefusedError if it refuses.
        """
        if self.breaker.seconds_left:
            raise TeamError(self.breaker.error, f"it is tried again in {self.breaker.seconds_left:.0f} seconds")
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
            raise TeamRefusedError(_words(error), "subconscious team shows your role") from error
        except errors.LockNotAvailable as error:
            self.breaker.succeeded()  # a server that works: searches go on
            raise TeamError("others are writing into this project", "it is sent with the next exchange") from error
        except (TimeoutError, PoolTimeout) as error:
            why = next(iter(self._kind.failures), f"it does not answer within {seconds:g} seconds")
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
                    # A statement alone is one round trip in place of three, and holds its locks no longer than it runs.
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
    """Send no statement by name: a pool between us and the server may hand the next one to another connection."""
    connection.prepare_threshold = None
