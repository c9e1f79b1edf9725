"""SDKs that are installed when a provider first needs them; tests/daemon/test_environment.py installs one."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.setup import _ensure_sdk
from subconscious import extras
from subconscious.domain.errors import EmbedderBusyError, UnavailableError
from subconscious.embeddings.embedder import Access as EmbedderAccess
from subconscious.embeddings.embedder import open_embedder
from subconscious.llm.providers import PROVIDERS, Access, open_provider
from subconscious.settings import provider_table
from subconscious.settings.provider_table import ProviderRow, provider_rows


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment as the plugin makes it, without any extra; this process takes itself to run from it."""
    folder = tmp_path / "env" / "0123-cpython-3.11"
    folder.mkdir(parents=True)
    (folder / ".complete").touch()
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(extras, "_installing", {})
    return folder


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the extras whose installation was begun; each takes until the test ends."""
    names: list[str] = []
    waiting: list[subprocess.Popen[bytes]] = []

    def start(environment: Path, name: str, environ: object = None) -> subprocess.Popen[bytes]:
        names.append(name)
        waiting.append(
            subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        )
        return waiting[-1]

    monkeypatch.setattr(extras, "_start", start)
    yield names
    for process in waiting:
        process.communicate()


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> str:
    """A provider whose class derives from OpenAI's."""
    rows = {**provider_rows(), "derived": ProviderRow("derived", "openai:OpenAIProvider", sdk="openai")}
    monkeypatch.setattr(provider_table, "provider_rows", lambda: rows)
    monkeypatch.setitem(PROVIDERS, "derived", PROVIDERS["openai"])
    return "derived"


def test_where_the_packages_are_nothing_is_installed(begun: list[str]) -> None:
    assert extras.ensure("anthropic") is None
    assert extras.ensure("ollama") is None, "it needs no extra"
    assert begun == []


@pytest.mark.slow
def test_a_provider_s_sdk_is_installed_once_and_meanwhile_the_provider_waits(
    environment: Path, begun: list[str]
) -> None:
    for _ in range(2):
        with pytest.raises(UnavailableError) as error:
            open_provider("anthropic", Access("m", "dummy"))
        assert "is being installed" in error.value.message
        assert error.value.retry_after == extras.POLL_SECONDS
    assert begun == ["anthropic"]
    (environment / ".packages-anthropic").touch()
    assert open_provider("anthropic", Access("m", "dummy")).name == "anthropic"


def test_a_provider_waits_for_the_sdk_that_it_shares_with_another(
    environment: Path, begun: list[str], derived: str
) -> None:
    with pytest.raises(UnavailableError, match="OpenAI's SDK is being installed"):
        open_provider(derived, Access("m", "dummy"))
    assert begun == ["openai"]
    (environment / ".packages-openai").touch()
    assert open_provider(derived, Access("m", "dummy"))


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.slow
def test_the_table_names_the_sdk_that_a_provider_imports(name: str) -> None:
    """Here all SDKs are installed. Where an SDK is missing, the class can't be imported to see which one."""
    code = f"import sys, {PROVIDERS[name].partition(':')[0]}; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    imported = [extra for extra, row in extras.EXTRAS.items() if loaded.intersection(row.modules)]
    sdk = provider_rows()[name].sdk
    assert imported == ([sdk] if sdk else []), f"set `sdk` of {name} in models.toml"


def test_an_embedder_s_sdk_is_installed_too(environment: Path, begun: list[str]) -> None:
    with pytest.raises(EmbedderBusyError, match="is being installed"):
        open_embedder("openai", EmbedderAccess(base_url="http://127.0.0.1:9"))
    assert begun == ["openai"]


def test_a_failure_is_one_line_with_its_remedy_and_rests(environment: Path, begun: list[str]) -> None:
    note = environment.parent / "failure-anthropic"
    note.write_text(json.dumps({"reason": "the package index can't be reached", "time": time.time()}))
    with pytest.raises(UnavailableError) as error:
        open_provider("anthropic", Access("m", "dummy"))
    assert error.value.message == "Anthropic's SDK can't be installed: the package index can't be reached"
    assert error.value.remedy.startswith("connect to the network, then run `subconscious setup`")
    assert begun == []
    for old in (time.time() - extras.RETRY_SECONDS, time.time() + 9999):
        note.write_text(json.dumps({"reason": "x", "time": old}))
        extras._installing.clear()
        assert extras.ensure("anthropic") is not None
    assert begun == ["anthropic", "anthropic"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"time": "x", "reason": 1}'])
def test_a_damaged_note_says_nothing(environment: Path, begun: list[str], content: str) -> None:
    (environment.parent / "failure-openai").write_text(content)
    assert extras.ensure("openai") is not None
    assert begun == ["openai"]


def test_setup_installs_and_reports_failures(environment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The installer itself runs; there is no environment that it could install into."""
    assert not _ensure_sdk("anthropic")
    said = capsys.readouterr().out
    assert "Installing Anthropic's SDK" in said
    assert "there is no environment to install into" in said
    assert _ensure_sdk("ollama")


def test_setup_installs_the_sdk_that_a_provider_shares_with_another(
    environment: Path, derived: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not _ensure_sdk(derived)
    assert "Installing OpenAI's SDK" in capsys.readouterr().out


def test_an_extra_of_several_packages_needs_all_of_them(monkeypatch: pytest.MonkeyPatch, begun: list[str]) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else name)
    assert not extras.is_installed("page")
    absence = extras.ensure("page")
    assert absence is not None
    assert absence.remedy == "pip install jinja2 starlette uvicorn"


def test_the_page_s_packages_are_installed_by_its_command(environment: Path, begun: list[str]) -> None:
    absence = extras.ensure("page")
    assert absence is not None
    assert absence.message == "the server of the web page is being installed (4 MB, once)"
    (environment.parent / "failure-page").write_text(json.dumps({"reason": "no network", "time": time.time()}))
    extras._installing.clear()
    failed = extras.ensure("page")
    assert failed is not None
    assert "then run `subconscious ui`" in failed.remedy
    assert begun == ["page"]


def test_elsewhere_a_person_installs(monkeypatch: pytest.MonkeyPatch, begun: list[str]) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    absence = extras.ensure("openai")
    assert absence == extras.Absence("OpenAI's SDK is not installed", "pip install openai", None)
    assert begun == []
