"""A daemon with other values of ``Tuning``, for tests and benches only.

The values are in ``<state folder>.tuning.json``, beside the state folder. ``python -m bench.tuned_daemon run`` is the
daemon with them. Daemons that a hook starts have the product's values.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from daemon.__main__ import main
from subconscious import wire
from subconscious.settings.home import Home, find_home
from subconscious.settings.tuning import Tuning

SHIPPED = {name: getattr(Tuning, name) for name in Tuning.__annotations__}
_shipped_command = wire.daemon_command


def write_config(home: Home, values: Mapping[str, object]) -> None:
    """Write settings to config.toml, as TOML has them, and values of ``Tuning`` beside the state folder."""
    settings = {name: str(value).lower() for name, value in values.items() if name not in SHIPPED}
    (home.root / "config.toml").write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    _file(home).write_text(json.dumps({name: value for name, value in values.items() if name in SHIPPED}))


def apply_tuning(home: Home | None) -> None:
    """Set the values for a state folder in this process; those of the product for None."""
    chosen = json.loads(_file(home).read_text()) if home and _file(home).exists() else {}
    for name, value in (SHIPPED | chosen).items():
        setattr(Tuning, name, value)


def tuned_command(home: Home) -> tuple[list[str], dict[str, str]]:
    """What runs a daemon with these values, in the place of ``client.daemon_command``."""
    _, environment = _shipped_command(home)
    return [sys.executable, "-P", "-m", "bench.tuned_daemon"], environment


def _file(home: Home) -> Path:
    return home.root.with_name(f"{home.root.name}.tuning.json")


if __name__ == "__main__":
    apply_tuning(find_home())
    sys.exit(main())
