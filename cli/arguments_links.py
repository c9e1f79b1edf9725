"""The verbs of links: what memories have to do with each other."""

from __future__ import annotations

import argparse

from .options import Verbs, add_ids, add_verb, positive

STATUSES = ("active", "proposed", "refused", "withdrawn", "all")


def add(verbs: Verbs) -> None:
    """Add them."""
    _add_reading(verbs)
    _add_changing(verbs)
    _add_walking(verbs)


def _add_reading(verbs: Verbs) -> None:
    verb = add_verb(verbs, "links", "links:links", "what a memory has to do with others; or what waits", listing=True)
    verb.add_argument("id", metavar="ID", type=positive, nargs="?", help="a memory; else all links that are proposed")
    verb.add_argument("--status", choices=STATUSES, help="only these; else active and proposed ones")
    _add_types(verb)
    _add_extent(verb)
    verb = add_verb(verbs, "conflicts", "links:conflicts", "memories that can't hold together", listing=True)
    verb.add_argument("--status", choices=STATUSES, help="only these; else active and proposed ones")
    _add_extent(verb)


def _add_changing(verbs: Verbs) -> None:
    verb = add_verb(verbs, "link", "links:link", "link two memories: link 15 SUPERSEDES 12", listing=True)
    verb.add_argument("source", metavar="SOURCE", type=positive)
    verb.add_argument("type", metavar="TYPE", help="SUPPORTS, CONTRADICTS, SUPERSEDES, EXTENDS, REQUIRES, CAUSED, ...")
    verb.add_argument("target", metavar="TARGET", type=positive)
    verb.add_argument("--reason", help="what it is inferred from; kept as its evidence")
    add_ids(add_verb(verbs, "confirm", "links:confirm", "say that proposed links are right", listing=True))
    add_ids(add_verb(verbs, "unlink", "links:unlink", "say that links are wrong; they stay so", listing=True))
    verb = add_verb(verbs, "relink", "links:relink", "say what a link really is", listing=True)
    verb.add_argument("id", metavar="LINK", type=positive)
    verb.add_argument("type", metavar="TYPE", nargs="?", help="its type; left out, the one it has")
    verb.add_argument("--reverse", action="store_true", help="the other way round")
    verb.add_argument("--reason", help="kept in the history")


def _add_walking(verbs: Verbs) -> None:
    verb = add_verb(verbs, "graph", "graphs:graph", "what surrounds a memory", listing=True)
    verb.add_argument("id", metavar="ID", type=positive)
    _add_depth(verb)
    _add_types(verb)
    verb.add_argument("--mermaid", action="store_true", help="as a drawing for Mermaid")
    verb.add_argument("--everywhere", action="store_true", help="into other projects too")
    verb = add_verb(verbs, "why", "graphs:why", "why something is so: its reasons, and theirs", listing=True)
    verb.add_argument("question", metavar="ID|QUESTION", nargs="+", help="a memory, or words")
    _add_depth(verb)


def _add_types(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--type", metavar="TYPE", nargs="+", default=[], help="only these types")


def _add_extent(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=50, help="at most so many (50)")


def _add_depth(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--depth", type=positive, default=3, choices=range(1, 7), metavar="N", help="so far (3)")
