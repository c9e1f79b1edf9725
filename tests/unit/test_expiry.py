"""When a statement ends by its own words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from subconscious.supersession.expiry import ends_at
from subconscious.supersession.retirement import has_ended
from tests.support.values import make_memory

SAID = datetime(2026, 5, 13, 10, 0, tzinfo=UTC)
"""A Wednesday."""


def last_day(text: str) -> str | None:
    end = ends_at(text, SAID.timestamp())
    return None if end is None else str((datetime.fromtimestamp(end, UTC) - timedelta(days=1)).date())


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("freeze until friday: nothing gets merged to main", "2026-05-15"),
        ("no deploys until 2026-05-20", "2026-05-20"),
        ("auditors are here till the 14th, no prod access", "2026-05-14"),
        ("use the small model until the 1st", "2026-06-01"),
        ("no flaky retries for the next 3 days", "2026-05-16"),
        ("skip e2e for today", "2026-05-13"),
        ("no merges until tomorrow", "2026-05-14"),
        ("this week no releases", "2026-05-17"),
        ("no releases for the week", "2026-05-17"),
        ("deploys are frozen for the rest of the week", "2026-05-17"),
        ("this sprint only bugs", "2026-05-27"),
        ("no new vendors this quarter", "2026-06-30"),
        ("this month nothing but stability", "2026-05-31"),
        ("bis Freitag keine Deploys", "2026-05-15"),
        ("bis zum 20. nichts mergen", "2026-05-20"),
        ("diese Woche bitte keine Releases", "2026-05-17"),
        ("pas de mise en prod jusqu'à vendredi", "2026-05-15"),
        ("cette semaine pas de merge", "2026-05-17"),
        ("esta semana solo bugs", "2026-05-17"),
        ("nada de deploy até sexta", "2026-05-15"),
        ("no deploys for two weeks starting today, sale season", "2026-05-27"),
        ("no deploys the next two weeks", "2026-05-27"),
        ("don't rename things for the next 2 sprints", "2026-06-10"),
        ("in den nächsten zwei Wochen keine Deploys", "2026-05-27"),
        ("pas de déploiement les deux prochaines semaines", "2026-05-27"),
        ("sem deploy nas próximas duas semanas", "2026-05-27"),
        ("skip the e2e suite til friday", "2026-05-15"),
        ("no deploys until fri", "2026-05-15"),
        ("skip the e2e suite through friday", "2026-05-15"),
        ("no refactoring until eow", "2026-05-17"),
        ("don't merge anything until the end of the month", "2026-05-31"),
        ("keine Merges bis Ende des Monats", "2026-05-31"),
        ("keep the old endpoint alive until july", "2026-06-30"),
        ("keep the old endpoint alive until the end of july", "2026-07-31"),
        ("nobody pushes to main today", "2026-05-13"),
        ("no deploys tomorrow", "2026-05-14"),
        ("no new features next week, we stabilise", "2026-05-24"),
        ("the vendor sandbox is down this week, leave the integration tests out", "2026-05-17"),
        ("staging is frozen over the weekend", "2026-05-17"),
        ("Bis 3. Juni nichts an der Datenbank ändern, danach kommt die Migration.", "2026-06-03"),
        ("Das Deployment-Freeze gilt bis 12. Dezember.", "2026-12-12"),
        ("bis zum 1. März 2027 keine Deploys", "2027-03-01"),
        ("bis 12. Dez. keine Deploys", "2026-12-12"),
        ("bis 31.12. keine Deploys", "2026-12-31"),
        ("keine Deploys bis zum 31.12.", "2026-12-31"),
        ("keine Deploys bis 31.12.2026", "2026-12-31"),
        ("vom 3. bis 5. Juni kein Deploy", "2026-06-05"),
        ("pas de déploiement jusqu'au 1er juin", "2026-06-01"),
        ("pas de déploiement jusqu\u2019au 3 janvier 2027", "2027-01-03"),
        ("no desplegar hasta el 3 de enero", "2027-01-03"),
        ("hasta el día 3 de enero de 2027 no desplegar", "2027-01-03"),
        ("nada de deploy até 3 de janeiro", "2027-01-03"),
        ("niente deploy fino al 3 giugno", "2026-06-03"),
        ("geen deploys tot 3 juni", "2026-06-03"),
        ("inga deployer till den 3 juni", "2026-06-03"),
        ("no deploys until 12. December", "2026-12-12"),
        ("im on a train with bad internet, no docker pulls today", "2026-05-13"),
        ("don't merge anything today because of the demo", "2026-05-13"),
        ("you can force push on jb/rollups, today only", "2026-05-13"),
        ("bitte heute nichts mergen", "2026-05-13"),
        ("hoy nada de deploys", "2026-05-13"),
        ("priya is sick today", "2026-05-13"),
        ("Tobias is out next week", "2026-05-24"),
        ("don't touch the payments service this week", "2026-05-17"),
        ("we're 2 people short this month so skip the second review", "2026-05-31"),
        ("no new instances till eom, budget is gone", "2026-05-31"),
        ("auditors are in the house till the 14th, no prod access for anyone", "2026-05-14"),
        ("Maschine 7 ist bis Montag wegen Wartung offline", "2026-05-18"),
        ("hasta el lunes usamos el runner viejo, el nuevo esta en reparacion", "2026-05-18"),
        ("until friday jonas does the reviews", "2026-05-15"),
        ("let's not touch auth until friday", "2026-05-15"),
        ("wait with releases until monday", "2026-05-18"),
        ("warte mit dem Release bis Montag", "2026-05-18"),
        ("dont deploy today ok?", "2026-05-13"),
        ("hoy no despliegues nada", "2026-05-13"),
        ("no toques auth hoy", "2026-05-13"),
        ("hoje não faça deploy", "2026-05-13"),
        ("die staging-DB ist bis Freitag gesperrt", "2026-05-15"),
        ("main est bloqué jusqu'à vendredi", "2026-05-15"),
        ("don't block IPs until friday", "2026-05-15"),
        ("only bug fixes today", "2026-05-13"),
        ("heute nur kleine Hotfixes", "2026-05-13"),
        ("hoje só correções", "2026-05-13"),
        ("Codefreeze bis zum 14., bis dahin nichts nach main mergen", "2026-05-14"),
    ],
)
def test_what_holds_for_a_time_has_a_last_day(text: str, day: str) -> None:
    assert last_day(text) == day


@pytest.mark.parametrize(
    "text",
    [
        "always freeze main until friday",
        "deploys run every week until friday noon",
        "this week we decided to use postgres, not mysql",
        "we switched to pnpm this month, no npm",
        "the report covers this quarter",
        "wait until the build is green",
        "support is there from monday until friday",
        "jede Woche bis Freitag den Bericht schicken",
        "the cache holds 14 entries",
        "no default exports",
        "this sprint board is public",
        "we keep backups for two weeks",
        "wir unterst\u00fctzen Ubuntu bis 22.04. Danach nur Docker",
        "Python bis 3.12. und nicht h\u00f6her",
        "Rechnungen bis 31. Dezember aufbewahren",
        "the trial lasts for two weeks from the first login, not from signup",
        "invoices are not sent at the end of the month but on the 3rd",
        "the dashboard shows jobs for today",
        "today we use node 20, not 18",
        "we don't support ie any more as of today",
        "starting next week nobody pushes to main",
        "from next week on no deploys on fridays",
        "no bookings for tomorrow after 6pm",
        "next week's release has no migrations",
        "don't read through monday's logs by hand",
        "das Release ist am 12. Dezember",
        "ab dem 3. Januar deployt nur Anna",
        "vor dem 12. Dezember kommt die Migration",
        "avant le 3 janvier la migration est faite",
        "immer bis 3. Januar den Bericht schicken",
        "wir unterstützen Ubuntu bis 20.04.",
        "wir unterstützen Python bis 3.12",
        "nichts ohne Review mergen, gilt ab heute",
        "no merges without review, effective today",
        "no merges without review effective today",
        "sin revisión no se despliega nada desde hoy",
        "no default exports, agreed with the team today",
        "don't store birthdays, legal told us today",
        "nobody except lena can approve releases today",
        "don't use the words today or tomorrow in notifications",
        "do not rely on the cron that exists today",
        "no breaking changes, the public api stays as it is today",
        "we decided: no feature flags in the billing service, nothing else changed today",
        "keine Kundendaten in Logs, Ansage vom Chef heute",
        "pas de console.log en prod, décidé aujourd'hui",
        "sem any no typescript, decidimos hoje",
        '"no deploys today" is the banner text, don\'t translate it',
        "react 19 is out today, use it",
        "don't preselect today",
        "no bookings for today",
        "don't hardcode this month",
        "we migrate to pnpm this week, no npm",
        "releases need two approvals, kim's out till monday",
        "we use pnpm, no deploys until friday",
        "cancelled plans stay active until the end of the month, never cut them off earlier",
        "las suscripciones canceladas siguen activas hasta fin de mes, no cortar antes",
        "Gekündigte Abos laufen bis Ende des Monats weiter, nicht sofort abschalten",
        "when a customer cancels, keep access until the end of the month",
        "users can only book rooms for the next 3 months, the form must enforce it",
        "Man kann nur die nächsten 3 Monate buchen",
        "the cron job creates partitions only for the next 3 months",
        "only show events for the next 7 days",
        "keep the backlog ready for the next two sprints",
        "close the books before the end of the month, never later",
        "don't page anyone over the weekend unless prod is down",
        "no alerts during the weekend, page nobody",
        "the staging cluster is off over the weekend",
        "orders until march live in postgres, the rest is in bigquery",
        "historical data until march is in the archive bucket, never query it live",
        "unser Geschäftsjahr läuft bis zum 30.06.",
        "o ano fiscal vai até 31 de dezembro",
        "Urlaubsanträge müssen jährlich bis 31. März gestellt sein",
        "bis zum 10. des Monats keine Korrekturen",
        "invoices are due until the 14th, no reminders before that",
        "le compte est bloqué jusqu'à demain",
        "a conta está bloqueada até amanhã",
        "la cuenta está bloqueada hasta el lunes",
        "das Konto ist bis morgen gesperrt",
        "für die nächsten 3 Tage wird die IP gesperrt",
        "the IP stays blocked for the next 3 days",
        "bis Freitag gilt der Rabatt",
        "wait with emails until tomorrow",
        "let's not cache invoices until friday",
        "don't use lodash today ok?",
        "hoy no usamos redis",
        "hoy no se despliega sin revisión",
        "only postgres today",
        "only typescript today, no js",
        "hoy solo soportamos postgres",
        "hoje só pnpm",
        "nur pnpm heute",
        "aujourd'hui seulement postgres",
        "the maintenance window is open until sunday, no restarts outside",
    ],
)
def test_what_holds_until_further_notice_has_none(text: str) -> None:
    assert last_day(text) is None


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("no deploys until the 31st", datetime(2026, 1, 31, tzinfo=UTC), "2026-03-31"),
        ("no deploys until the 30th", datetime(2026, 1, 30, tzinfo=UTC), "2026-03-30"),
        ("no deploys until 29 Feb", datetime(2027, 9, 1, tzinfo=UTC), "2028-02-29"),
        ("no deploys until 28 Feb", datetime(2027, 9, 1, tzinfo=UTC), "2028-02-28"),
    ],
)
def test_a_day_that_not_every_month_has_is_the_next_one(text: str, said: datetime, day: str) -> None:
    end = ends_at(text, said.timestamp())
    assert end is not None
    assert str((datetime.fromtimestamp(end, UTC) - timedelta(days=1)).date()) == day


def test_what_a_person_pinned_does_not_end() -> None:
    memory = make_memory("no deploys until friday")
    later = memory.said_at + timedelta(days=8).total_seconds()
    assert has_ended(memory, later)
    assert not has_ended(replace(memory, pinned=True), later)
