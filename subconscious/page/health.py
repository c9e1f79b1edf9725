"""The page Health: findings of the doctor, costs of models, response times of hooks, and captures of this week."""

from __future__ import annotations

import asyncio
import os

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from subconscious.doctor import examine
from subconscious.page.site import site_of


async def _health(request: Request) -> Response:
    site = site_of(request)
    status = await site.ask("status", cwd=site.folder)
    stats = await site.ask_here("stats")
    return await site.page("health.html", status=status, stats=stats)


async def _doctor(request: Request) -> Response:
    """Return the doctor's findings. They are loaded after the page, because the doctor takes long."""
    site = site_of(request)
    environ = {**os.environ, "SUBCONSCIOUS_HOME": str(site.app.home.root)}
    findings = await asyncio.to_thread(examine, environ)
    return site.part("doctor_part.html", findings=sorted(findings, key=lambda finding: finding.ok))


ROUTES = [Route("/health", _health), Route("/health/doctor", _doctor)]
