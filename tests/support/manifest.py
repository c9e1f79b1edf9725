"""The options of the plugin's manifest that derive from the table of providers.

``python -m tests.support.manifest`` writes them into both copies of plugin.json; a test holds the files equal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from subconscious.settings.provider_table import ProviderRow, offered_providers, provider_rows

ROOT = Path(__file__).parents[2]
FILES = (ROOT / "plugin.json", ROOT / ".claude-plugin" / "plugin.json")


def derived_options() -> dict[str, dict[str, Any]]:
    """Return the choice of a provider, and an option for each key that can be entered there."""
    return {"provider": _choice()} | {
        f"{row.name}_key": _key(row) for row in provider_rows().values() if row.key_option
    }


def _choice() -> dict[str, Any]:
    return {
        "type": "string",
        "title": "Model that helps",
        "description": f"none (unless set), {offered_providers()}. Anything but none sends redacted parts of your"
        " sessions to that model, and may cost money.",
    }


def _key(row: ProviderRow) -> dict[str, Any]:
    own_server = ", or for a compatible server that needs a key" if row.key == "own_server_without" else ""
    return {
        "type": "string",
        "title": _titled(row.settings["key"]),
        "description": f"Needed for the provider {row.name} only{own_server}.",
        "sensitive": True,
    }


def _titled(text: str) -> str:
    return text[0].upper() + text[1:]


def with_options(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with the derived options in the place of its own, and all its other options."""
    derived = derived_options()
    others = {name: option for name, option in manifest["userConfig"].items() if not _is_derived(name)}
    return manifest | {"userConfig": others | derived}


def _is_derived(name: str) -> bool:
    return name == "provider" or (name.endswith("_key") and name not in ("embedder_key", "store_key"))


if __name__ == "__main__":
    text = json.dumps(with_options(json.loads(FILES[0].read_text(encoding="utf-8"))), indent=2, ensure_ascii=False)
    for file in FILES:
        file.write_text(f"{text}\n", encoding="utf-8")
