"""Install packages on first use, while the user waits."""

from __future__ import annotations

from subconscious import extras

from . import screen


def ensure_extra(name: str) -> bool:
    """Install an optional package if needed, with this terminal's proxy settings; return whether it is installed."""
    if extras.is_installed(name):
        return True
    extra = extras.EXTRAS[name]
    print(f"Installing {extra.label} ({extra.megabytes} MB, once) ...", flush=True)
    absence = extras.install(name)
    if absence:
        print(screen.paint(absence.message, "yellow"))
        print(f"  {absence.remedy}")
    return absence is None
