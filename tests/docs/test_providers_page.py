"""docs/providers.md names the providers and models that there are."""

from __future__ import annotations

import re
from pathlib import Path

from subconscious.llm.providers import NONE, PROVIDERS
from subconscious.llm.providers.prices import default_model

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_the_code() -> None:
    table = PAGE.partition("## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("| `")
    ]
    named = {row[0].strip("`"): row[3].strip("`") for row in rows if row[0] != "`provider`"}
    missing, extra = set(PROVIDERS) - set(named), set(named) - {NONE, *PROVIDERS}
    assert not missing | extra, f"docs/providers.md, first table: add rows of {missing}, remove {extra}"
    wrong = {name: default_model(name) for name in PROVIDERS if named[name] != default_model(name)}
    assert not wrong, f"docs/providers.md, first table: the default models are {wrong}"


def test_every_code_of_a_provider_error_is_told() -> None:
    assert set(re.findall(r"^\| (E\d{3}) ", PAGE, re.MULTILINE)) == {"E050", "E060", "E061", "E062", "E063", "E064"}
