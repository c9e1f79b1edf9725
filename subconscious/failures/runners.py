"""Recognises the same task, with the same arguments, run by another program of the same sort (``npm``, ``pnpm``)."""

from __future__ import annotations

from collections.abc import Sequence

_SORTS = (
    ("npm run", "npm", "pnpm run", "pnpm", "yarn run", "yarn", "bun run"),
    ("cargo test", "cargo nextest run"),
    ("make", "gmake", "just", "task", "rake", "mage"),
    ("mvn", "mvnd", "mvnw", "./mvnw"),
    ("gradle", "gradlew", "./gradlew"),
)
"""Programs that run the same tasks of a project, one sort per row."""

_WRAPPERS = frozenset(
    "bundle exec|hatch run|pdm run|pipenv run|pixi run|poetry run|python -m|python3 -m|rye run|uv run".split("|")
)
"""Programs that run another program in the project's environment."""

_MOST_WORDS = 3
"""The most words of a runner."""


def other_runner(failed: Sequence[str], worked: Sequence[str]) -> str:
    """Return which runner replaced which, "npm to pnpm", if two commands differ only in their runner; "" if not.

    The task must be the same, so that the second command checks nothing else than the first. Linters and formatters are
    no runners: one that finds nothing does not show that another one should have found nothing.
    """
    for old, task in _split(failed):
        for new, same in _split(worked):
            if old != new and task == same and _of_one_sort(old, new, task):
                return f"{old or task[0]} to {new or task[0]}"
    return ""


def _split(words: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return each way to split a command into its runner, perhaps none, and the task; the longest runner first."""
    found = [(" ".join(words[:count]), words[count:]) for count in range(min(_MOST_WORDS, len(words)), -1, -1)]
    return [(runner, [word for word in task if word != "--"]) for runner, task in found]


def _of_one_sort(old: str, new: str, task: Sequence[str]) -> bool:
    """Whether two runners run the same tasks. Without a task, only runners that name it themselves do."""
    if task and {old, new} <= _WRAPPERS | {""}:
        return True
    same = old.startswith(new) or new.startswith(old)  # npm run test and npm test are one command
    names_task = "test" in old and "test" in new
    return bool(task or names_task) and not same and any(old in sort and new in sort for sort in _SORTS)
