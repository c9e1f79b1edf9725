"""``subconscious setup``: shows what a model would be sent and cost, tries one on the last session, switches it on."""

from __future__ import annotations

import sys
from argparse import Namespace
from getpass import getpass
from typing import Any

from subconscious import extras
from subconscious.errors import RequestError, SettingsError, SubconsciousError

from . import screen
from .ask import ask, here, home
from .origin import require_person

MEASURING_SECONDS = 120.0
TRIAL_SECONDS = 300.0
"""Time that a trial may take: the first question loads an SDK, and a session may be long."""

NONE = "none"
SENT = """\
What you and the assistant said, the commands that were run, which files were read or changed, short changes, and lines
of errors are sent to it when a session pauses or ends, and some of what is remembered. Secrets and <private> passages
are taken out first, and no file is sent. Without a model everything goes on as before."""

Row = dict[str, Any]


def setup(options: Namespace) -> int:
    """Choose a model, step by step; each can be skipped, and only the last one changes anything but a key."""
    plan = ask("setup_plan", MEASURING_SECONDS, cwd=here())
    if options.json:
        screen.as_json(plan)
        return 0
    _show(plan)
    if options.show:
        return 0
    require_person("choose which model is sent what is said", "see what it would cost: subconscious setup --show")
    provider = options.provider or ("" if options.yes else _chosen(plan))
    if not provider:
        return _unchanged("name one: --provider claude_code" if options.yes else "")
    if provider == NONE:
        return _switch(provider, options)
    offer = _offer(plan, provider)
    if not _has_key(offer, options) or not _works(offer, options):
        return _unchanged("", code=1 if options.yes else 0)
    return _switch(provider, options)


def _show(plan: Row) -> None:
    print(screen.paint("A model that helps", "bold"))
    print(screen.wrapped(SENT))
    whose = "of this project's last" if plan["measured"] else "of sessions elsewhere: there are too few here"
    tokens = f"{plan['median']:,} tokens at the median, {plan['most']:,} at 95 %"
    screen.fields(
        (
            ("now", plan["provider"]),
            ("a session", f"{tokens} ({whose}{' ' + str(plan['sessions']) if plan['measured'] else ''})"),
            ("at most", f"${plan['cost_per_day']:g} a day; {plan['tokens_per_day']:,} tokens a day for Claude Code"),
            *((offer["provider"], _terms(offer)) for offer in plan["offers"]),
        )
    )


def _terms(offer: Row) -> str:
    what = screen.line(offer["about"])
    if not offer["found"]:
        return f"{what}: its program isn't found"
    if offer["provider"] == "claude_code":
        return f"{what}: counts against its usage limits"
    cost = offer["cost"]
    price = "its price is not known" if cost is None else "costs nothing" if cost == 0 else f"${cost:.4f} a session"
    return f"{what}: {screen.line(offer['model'])}, {price}"


def _chosen(plan: Row) -> str:
    """Ask which provider; "" to leave it as it is."""
    likely = next((one["provider"] for one in plan["offers"] if one["provider"] == "claude_code" and one["found"]), "")
    known = [*(offer["provider"] for offer in plan["offers"]), NONE]
    names = "/".join(known)
    hint = f"Enter for {likely}, " if likely else ""
    said = _typed(f"Which one? {names} ({hint}s to skip) ")
    if said in (None, "s", "skip", "n", "no"):
        return ""
    chosen = said or likely
    if chosen and chosen not in known:
        raise RequestError(f"there is no provider {chosen!r}", f"providers are: {names}")
    return chosen


def _typed(question: str) -> str | None:
    """What a person answers; None where they leave. Raises RequestError where nobody is there."""
    if not sys.stdin.isatty():
        raise RequestError("nobody is there to answer", "subconscious setup --yes --provider claude_code")
    try:
        return input(question).strip().lower()
    except EOFError:
        return None


def _offer(plan: Row, provider: str) -> Row:
    found = next((one for one in plan["offers"] if one["provider"] == provider), None)
    if found is None:
        known = ", ".join([*(one["provider"] for one in plan["offers"]), NONE])
        raise RequestError(f"there is no provider {provider!r}", f"providers are: {known}")
    return dict(found)


def _has_key(offer: Row, options: Namespace) -> bool:
    """Whether the provider has the key that it needs; a person may type it, unseen, into config.toml."""
    if not offer["lacks_key"]:
        return True
    name = f"{offer['provider']}_key"
    if options.yes or not sys.stdin.isatty():
        raise RequestError(f"{offer['provider']} needs a key", f'set {name} = "..." in {home().root / "config.toml"}')
    key = getpass(f"{name} (kept in config.toml, which only you can read; Enter to skip): ").strip()
    if key:
        _write({name: key})
    return bool(key)


def _works(offer: Row, options: Namespace) -> bool:
    """Try it on the last session, unless that is skipped; whether it is to be switched on."""
    provider = offer["provider"]
    if not _has_sdk(provider):
        return False
    if options.no_try or (not options.yes and _typed("Try it on the last session? [Y/n] ") in (None, "n", "no", "s")):
        return bool(options.yes) or _typed(f"Send sessions to {provider} from now on? [y/N] ") in ("y", "yes")
    said = ask("setup_try", TRIAL_SECONDS, cwd=here(), provider=provider, origin="user")
    if said["error"]:
        print(screen.paint(f"{provider} can't be asked: {screen.line(said['error'])}", "yellow"))
        print(f"  {screen.line(said['remedy'])}")
        return False
    _tell_trial(said)
    return bool(options.yes) or _typed(f"Send sessions to {provider} from now on? [y/N] ") in ("y", "yes")


def _has_sdk(provider: str) -> bool:
    """Whether the provider's SDK is there; if not, it is installed now, with the proxies of this terminal."""
    if provider not in extras.EXTRAS or extras.is_installed(provider):
        return True
    print(f"Installing {extras.EXTRAS[provider]} (35 MB, this once) ...", flush=True)
    absence = extras.install(provider)
    if absence:
        print(screen.paint(absence.message, "yellow"))
        print(f"  {absence.remedy}")
    return absence is None


def _tell_trial(said: Row) -> None:
    if not said["session"]:
        print("It can be asked. There is no session here yet to try it on.")
        return
    what = screen.counted(len(said["found"]), "statement")
    print(f'In "{screen.line(said["session"])}" ({said["tokens"]:,} tokens) it found {what}; nothing was stored.')
    for one in said["found"]:
        print(screen.wrapped(f"{one['kind']}: {screen.line(one['content'])}", 6))


def _switch(provider: str, options: Namespace) -> int:
    """Write the setting, and let it hold; both need the person who runs this."""
    _write({"provider": provider})
    try:
        changed = ask("setup_accept", provider=provider, origin="user")["changed"]
    except SubconsciousError as error:
        raise SettingsError(f"written, but not in force: {error.message}", error.remedy) from error
    if provider == NONE:
        print("No model is asked any more.")
    elif changed or options.yes:
        print(f"{provider} is asked from now on. `subconscious status` says how it is,", end=" ")
        print("`subconscious setup --provider none` switches it off.")
    else:
        print(f"{provider} was asked before already.")
    return 0


def _write(values: dict[str, str]) -> None:
    # Imported here: reading settings takes longer than all the rest of this program.
    from subconscious.settings_file import write_settings

    write_settings(home().root / "config.toml", values)


def _unchanged(remedy: str, code: int = 0) -> int:
    if remedy:
        raise RequestError("no model was named", remedy)
    print("Nothing was changed: " + ("see above." if code else "everything works without a model."))
    return code
