"""``subconscious setup``: shows what a model is sent and what it costs, tries it on a session, and switches it on."""

from __future__ import annotations

import sys
from argparse import Namespace
from getpass import getpass
from typing import TYPE_CHECKING

from subconscious.domain.errors import RequestError, SettingsError, SubconsciousError
from subconscious.settings.provider_table import provider_row

from . import screen, suspicion
from .ask import ask, here, home
from .installing import ensure_extra
from .origin import inside_client, require_person

if TYPE_CHECKING:
    from subconscious.wire.imports import ModelOffer, SetupPlanResult, SetupTryResult

MEASURING_SECONDS = 120.0
TRIAL_SECONDS = 300.0
"""Seconds that a trial may take: the first request loads an SDK, and a session may be long."""

NONE = "none"
SENT = """\
Optional: everything works without a model. When a session pauses or ends, the model is sent what you and the assistant
said, the commands that were run, the names of files that were read or changed, short changes, lines of errors, and some
memories. Secrets and <private> passages are removed first, and no file is sent."""


def setup(options: Namespace) -> int:
    """Run all steps of the setup; with options, without a terminal or inside a coding agent, only choose a model."""
    named = options.provider or options.yes or options.show or options.json or options.no_try
    if named or not sys.stdin.isatty() or inside_client():
        if not options.json:
            print(screen.paint("A model that helps", "bold"))
        return choose_model(options)
    from .setup_steps import walk  # here, because no other command needs its imports

    return walk(options, choose_model)


def choose_model(options: Namespace) -> int:
    """Choose a model step by step. Until the last step, the only changes are a stored key and an installed SDK."""
    plan = ask("setup_plan", MEASURING_SECONDS, cwd=here())
    if options.json:
        screen.as_json(plan)
        return 0
    _show(plan)
    if options.show:
        return 0
    require_person("choose a model", "to see what a model would cost, run `subconscious setup --show`")
    provider = options.provider or ("" if options.yes else _chosen(plan))
    if not provider:
        return _unchanged("name a provider, as in --provider claude_code" if options.yes else "")
    if provider == NONE:
        return _switch_to(provider, options)
    offer = _offer(plan, provider)
    if not _ensure_key(offer, options) or not _is_wanted(offer, options):
        return _unchanged("", code=1 if options.yes else 0)
    return _switch_to(provider, options)


def _show(plan: SetupPlanResult) -> None:
    print(screen.wrapped(" ".join(SENT.split())))
    tokens = f"{plan['median']:,} tokens (median), {plan['most']:,} for a long one (95th percentile)"
    measured = (
        f"the last {plan['sessions']} sessions here"
        if plan["measured"]
        else "other projects, as this one has too few sessions"
    )
    screen.fields(
        (
            ("now", plan["provider"]),
            ("a session", f"{tokens}, measured on {measured}"),
            ("at most", f"${plan['cost_per_day']:g} a day; {plan['tokens_per_day']:,} tokens a day for Claude Code"),
            *((offer["provider"], _terms(offer)) for offer in plan["offers"]),
        )
    )


def _terms(offer: ModelOffer) -> str:
    what = screen.line(offer["about"])
    if not offer["found"]:
        return f"{what}: its program was not found"
    if offer["provider"] == "claude_code":
        return f"{what}: counts against the usage limits of your account"
    cost = offer["cost"]
    price = "price unknown" if cost is None else "costs nothing" if cost == 0 else f"${cost:.4f} a session"
    return f"{what}: {screen.line(offer['model'])}, {price}"


def _chosen(plan: SetupPlanResult) -> str:
    """Ask for a provider; return "" if the user skips the question."""
    known = [*(offer["provider"] for offer in plan["offers"]), NONE]
    names = "/".join(known)
    answer = _answer_to(f"Which one? {names} (Enter to skip) ")
    if answer is None or answer in ("", "s", "skip", "n", "no"):
        return ""
    if answer not in known:
        raise RequestError(f"there is no provider {answer!r}", f"providers are: {names}")
    return answer


def _answer_to(question: str) -> str | None:
    """Return the user's answer; None at the end of the input. Raises RequestError without a terminal."""
    if not sys.stdin.isatty():
        raise RequestError("there is no terminal to ask on", "run `subconscious setup --yes --provider claude_code`")
    try:
        return input(question).strip().lower()
    except EOFError:
        return None


def _offer(plan: SetupPlanResult, provider: str) -> ModelOffer:
    found = next((one for one in plan["offers"] if one["provider"] == provider), None)
    if found is None:
        known = ", ".join([*(one["provider"] for one in plan["offers"]), NONE])
        raise RequestError(f"there is no provider {provider!r}", f"providers are: {known}")
    return found


def _ensure_key(offer: ModelOffer, options: Namespace) -> bool:
    """Return whether the provider has its key; if not, ask for it without echo and write it into config.toml."""
    if not offer["lacks_key"]:
        return True
    name = f"{offer['provider']}_key"
    if options.yes or not sys.stdin.isatty():
        raise RequestError(f"{offer['provider']} needs a key", f'set {name} = "..." in {home().root / "config.toml"}')
    key = getpass(f"{name} (kept in config.toml, which only you can read; Enter to skip): ").strip()
    if key:
        _write({name: key})
    return bool(key)


def _is_wanted(offer: ModelOffer, options: Namespace) -> bool:
    """Try the provider on the last session, unless the user skips this; return whether to switch the provider on."""
    provider = offer["provider"]
    if not _ensure_sdk(provider):
        return False
    if options.no_try or (
        not options.yes and _answer_to("Try the model on the last session? [Y/n] ") in (None, "n", "no", "s")
    ):
        return bool(options.yes) or _answer_to(f"Send sessions to {provider} from now on? [y/N] ") in ("y", "yes")
    answer = ask("setup_try", TRIAL_SECONDS, cwd=here(), provider=provider, origin="user")
    if answer["error"]:
        print(screen.paint(f"{provider} does not answer: {screen.line(answer['error'])}", "yellow"))
        print(f"  {screen.line(answer['remedy'])}")
        return False
    _print_trial(answer)
    return bool(options.yes) or _answer_to(f"Send sessions to {provider} from now on? [y/N] ") in ("y", "yes")


def _ensure_sdk(provider: str) -> bool:
    """Install the provider's SDK if needed, with this terminal's proxy settings; return whether it is installed."""
    sdk = provider_row(provider).sdk
    return not sdk or ensure_extra(sdk)


def _print_trial(answer: SetupTryResult) -> None:
    if not answer["session"]:
        print("The model answers. This project has no session yet to try it on.")
        return
    what = screen.counted(len(answer["found"]), "statement")
    print(f'In "{screen.line(answer["session"])}" ({answer["tokens"]:,} tokens) it found {what}; nothing is stored.')
    for one in answer["found"]:
        print(screen.wrapped(f"{one['kind']}: {screen.line(one['content'])}", 6))
        suspicion.note(one)


def _switch_to(provider: str, options: Namespace) -> int:
    """Write the ``provider`` setting, and record the user's approval, which this setting needs."""
    _write({"provider": provider})
    try:
        changed = ask("setup_accept", provider=provider, origin="user")["changed"]
    except SubconsciousError as error:
        raise SettingsError(f"the setting is saved, but not applied yet: {error.message}", error.remedy) from error
    if provider == NONE:
        print("Subconscious uses no model now.")
    elif changed or options.yes:
        off = "`subconscious setup --provider none` switches the model off"
        print(
            screen.wrapped(f"Subconscious uses {provider} from now on. `subconscious status` shows its state; {off}.")
        )
    else:
        print(f"Subconscious already uses {provider}.")
    return 0


def _write(values: dict[str, str]) -> None:
    # Imported here, because it takes longer than the rest of the program.
    from subconscious.settings.config_file import write_settings

    write_settings(home().root / "config.toml", values)


def _unchanged(remedy: str, code: int = 0) -> int:
    if remedy:
        raise RequestError("no provider is named", remedy)
    print("Nothing was changed: " + ("the reason is above." if code else "everything works without a model."))
    return code
