"""The page as an ASGI application: its state, its templates, and the routes of all its parts."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from subconscious.app import App
from subconscious.domain.errors import NotFoundError, SubconsciousError
from subconscious.domain.kinds import KINDS
from subconscious.page import changes, given, markup, wording
from subconscious.store import memories
from subconscious.text.quoting import visible

log = logging.getLogger("subconscious.page")

HERE = Path(__file__).parent

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a request to the daemon on behalf of the person who opened the web page."""

BACK = re.compile(r"[a-z]+(?:/[A-Za-z0-9._-]{1,200})?(?:\?[A-Za-z0-9&=%+._~-]*)?")
"""Matches the paths within the page that a form may redirect to."""

MOST_PROJECTS = 50
LATEST_EVENTS = 20
NAMED = 3
"""The most memories that the line about the last change names."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The line about the last change: its text, the ids of its memories (``about``), and its undo button.

    ``event`` is the id of the event to undo (0: the change can't be undone), ``undo`` the label of the button.
    """

    text: str
    event: int = 0
    problem: bool = False
    about: tuple[int, ...] = ()
    undo: str = "Undo"


class Form(dict[str, list[str]]):
    """The fields of a form."""

    def first(self, name: str, default: str = "") -> str:
        """Return a field's first value."""
        return self.get(name, [default])[0]

    def numbers(self, name: str) -> list[int]:
        """Return the values of a field that are numbers."""
        return [int(value) for value in self.get(name, []) if value.isascii() and value.isdigit() and len(value) < 16]


class Site:
    """The state of an open page. Only one person uses it, so the state is not kept per browser."""

    def __init__(self, app: App, ask: Ask, base: str) -> None:
        self.app = app
        self.base = base
        self.folder = ""
        """The folder of the project that is shown; "" for all projects."""
        self.closing = asyncio.Event()
        self._ask = ask
        self._notice: Notice | None = None
        self._templates = _templates()

    def forget(self) -> None:
        """Free the compiled templates after the page has been closed."""
        if self._templates.cache is not None:
            self._templates.cache.clear()

    async def ask(self, cmd: str, **args: Any) -> Any:
        """Return the result of a request."""
        return await self._ask(cmd, args)

    async def ask_here(self, cmd: str, **args: Any) -> Any:
        """Return the result of a request about the project that is shown, or about all projects."""
        place: dict[str, Any] = {"cwd": self.folder} if self.folder else {"everywhere": True}
        return await self._ask(cmd, {**place, **args})

    def part(self, template: str, **values: Any) -> HTMLResponse:
        """Return a part of a page."""
        return HTMLResponse(self._render(template, values))

    async def page(self, template: str, **values: Any) -> HTMLResponse:
        """Return a whole page, with the line about the last change."""
        known = await self.ask("projects", cwd=self.folder, limit=MOST_PROJECTS)
        notice, self._notice = self._notice, None
        about = notice.about if notice else ()
        shown = {
            "projects": known["projects"],
            "folder": self.folder,
            "waiting": known["review"],
            "notice": notice,
            "notice_names": await self.names(about[:NAMED]),
        }
        return HTMLResponse(self._render(template, shown | values))

    def _render(self, template: str, values: Mapping[str, Any]) -> str:
        return self._templates.get_template(template).render(base=self.base, kinds=list(KINDS), **values)

    def done(self, notice: Notice, form: Form) -> Response:
        """Redirect to the part of the page that a form names; it shows the notice."""
        self._notice = notice
        back = form.first("back")
        return RedirectResponse(self.base + (back if BACK.fullmatch(back) else ""), status_code=303)

    async def names(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the summaries of memories by id, because an id alone says nothing to a reader."""
        found = await memories.get_many(self.app.database.interactive, sorted(set(ids)))
        return {number: memory.summary for number, memory in found.items()}

    async def titles(self, ids: Iterable[str | None]) -> dict[str, str]:
        """Return the titles of sessions, or their first prompts, by id."""
        answers = [await self.ask("sessions", session_id=one) for one in sorted({one for one in ids if one})]
        rows = [row for answer in answers for row in answer["sessions"]]
        return {row["id"]: row["title"] or row["first_prompt"] or f"Session {row['id'][:8]}" for row in rows}

    async def change(self, cmd: str, **args: Any) -> tuple[Any, int]:
        """Make a change; return its result, and the id of the event to undo it with (0 if nothing was changed)."""
        before = (await self.ask("latest"))["event"]
        result = await self.ask(cmd, **args)
        latest = (await self.ask("history", limit=LATEST_EVENTS, everywhere=True))["events"]
        own = (event for event in latest if event["id"] > before and event["actor"] == "user" and event["change"])
        return result, next((int(event["id"]) for event in own), 0)


def site_of(request: Request) -> Site:
    """Return the page that a request is for."""
    site: Site = request.app.state.site
    return site


def is_part(request: Request) -> bool:
    """Return whether a request comes from a script and is for a part of a page; else, it is for a whole page."""
    return "hx-request" in request.headers and "hx-history-restore-request" not in request.headers


async def form_of(request: Request) -> Form:
    """Return the fields of a form."""
    body = (await request.body()).decode("utf-8", "replace")
    return Form(parse_qs(body, keep_blank_values=True, max_num_fields=5000))


def application(site: Site) -> Starlette:
    """Return the application that answers requests for the page."""
    # Imported here: these modules use this one.
    from subconscious.page import fading, graph, health, review, sessions, shell, timeline
    from subconscious.page import memories as memories_part

    parts = (shell, timeline, memories_part, review, sessions, graph, fading, health)
    routes = [route for part in parts for route in part.ROUTES]
    static = Mount("/static", StaticFiles(directory=HERE / "static"))
    made = Starlette(
        routes=[Mount(site.base.rstrip("/"), routes=[static, *routes])],
        exception_handlers={SubconsciousError: _failed, ValueError: _failed, Exception: _broken},
    )
    made.state.site = site
    return made


async def _failed(request: Request, error: Exception) -> Response:
    """Return the response to a request that failed: a page, or one line if a script sent the request."""
    if isinstance(error, SubconsciousError):
        return await _problem(
            request, changes.plainly(error.message), error.remedy, 404 if isinstance(error, NotFoundError) else 409
        )
    log.warning("invalid request to the web page: %s", error)
    return await _problem(request, "the request can't be read", "go back and try again", 400)


async def _broken(request: Request, error: Exception) -> Response:
    """Return an error page for a fault of the program; the traceback is in the log."""
    del error
    return await _problem(
        request, "an internal error occurred", "run `subconscious doctor`; the daemon's log has the details", 500
    )


async def _problem(request: Request, message: str, remedy: str, code: int) -> Response:
    site = site_of(request)
    if is_part(request):
        answer = site.part("problem_part.html", message=message, remedy=remedy)
        # htmx does not show responses with an error status, so this one keeps status 200, and replaces the notice.
        answer.headers["HX-Retarget"], answer.headers["HX-Reswap"] = "#notice", "innerHTML"
        return answer
    answer = await site.page("problem.html", message=message, remedy=remedy)
    answer.status_code = code
    return answer


def _templates() -> Environment:
    """Return the template environment: it escapes values, and removes characters that are invisible or reorder text."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(wording.FILTERS)
    made.filters.update(changes.FILTERS)
    made.filters.update(given.FILTERS)
    made.filters.update(markup.FILTERS)
    return made


def _shown(value: object) -> object:
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
