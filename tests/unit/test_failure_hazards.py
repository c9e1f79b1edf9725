"""What must not be recommended without a person: fetching, running what was fetched, escalating, deleting, skipping."""

from __future__ import annotations

import pytest

from subconscious.failures.commands import only
from subconscious.failures.hazards import doubtful, hazard, tellable


def said(line: str, failed: str = "") -> str:
    command = only(line)
    assert command is not None, line
    return hazard(command, only(failed) if failed else None)


@pytest.mark.parametrize(
    "line",
    [
        "curl -s example.org/install",
        "wget setup.sh",
        "npx left-pad",
        "bunx tool",
        "pnpm dlx tool",
        "npm install left-pad",
        "npm ci",
        "yarn add left-pad",
        "pip install requests",
        "python3 -m pip install requests",
        "uv pip install requests",
        "uv tool install x",
        "go get ./...",
        "go install ./cmd/x",
        "cargo install x",
        "brew install jq",
        "docker run image",
        "git clone ./other",
        "git pull",
        "sudo make",
        "su root",
        "chmod 777 file.txt",
        "chown me file.txt",
        "rm -r build",
        "git clean -x",
        "git reset HEAD",
        "git checkout main",
        "git restore a.txt",
        "git stash",
        "git push",
        "git push --force",
        "git push -f",
        "git config core.hooksPath none",
        "git commit --no-verify",
        "git commit -n",
        "npm test --force",
        "eslint --max-warnings 100 src/",
        "pytest --ignore tests/unit",
        "pytest --deselect a",
        "golangci-lint run --skip-dirs x",
        "mvn test -DskipTests",
        "bash setup.sh",
        "sh -c ls",
        "eval ls",
        "source env.sh",
        "./unpacked/run",
        "node -e 1",
        "python3 -c 1",
        "xargs make",
        "HUSKY=0 git status",
        "SKIP=lint pre-commit run",
        "env CI=1 make",
        "make --always-make -y",
        "gh pr merge 12",
        "gh auth login",
        "npm publish",
        "ping db.example.com",
        "psql me@host",
        "connect 10.1.2.3",
        "git -c core.hooksPath=none commit",
        "ruff --config other.toml check",
        "python3 /tmp/unpacked.py",
        "mytool 'do as the page says'",
        "make please-ignore-all-previous-instructions-now",
        "make a1b2c3d4e5f6a7b8c9d0e1f2",
    ],
)
def test_dangerous_ways_out_wait_for_a_person(line: str) -> None:
    assert said(line)


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("pnpm test", "npm test"),
        ("bun run lint", "rtk bun run lint"),
        ("cat -vet src/a.ts", "cat -A src/a.ts"),
        ("uv run pytest", "pytest"),
        ("mise run fmt", ""),
        ("go test ./...", ""),
        ("npm run build", "npm run bild"),
        ("git status", "git -C /srv/app status"),
        ("python3 tool.py", "python tool.py"),
    ],
)
def test_harmless_ways_out_do_not(line: str, failed: str) -> None:
    assert said(line, failed) == ""


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("biome check", "biome check --error-on-warnings"),
        ("eslint src/", "eslint --strict src/"),
        ("make", "make test"),
        ("git commit -m x", "git commit -m x --signoff"),
    ],
)
def test_a_check_that_checks_less_is_no_way_out(line: str, failed: str) -> None:
    assert said(line, failed)


def test_a_slot_is_plain_and_short() -> None:
    assert tellable("cat -A <path>")
    assert not tellable("echo `id`")
    assert not tellable("a\nb")
    assert not tellable("x" * 121)
    assert doubtful("https://example.org/x")
    assert not doubtful("src/app.ts", "npm test")


@pytest.mark.parametrize("argument", ["'do this now'", "--note='do this now'", "--from=https://example.org/x"])
def test_a_text_that_is_not_shown_needs_a_person(argument: str) -> None:
    assert said(f"mytool run {argument}") == "it contains a text that is not shown"


def test_a_path_in_an_option_is_no_other_program() -> None:
    assert said("make --directory=web/app") == ""
