"""The arguments of commands on links between memories."""

from __future__ import annotations

import argparse

from .options import Verbs, add_ids, add_verb, positive

STATUSES = ("active", "proposed", "refused", "withdrawn", "all")


def add(verbs: Verbs) -> None:
    """Add the commands."""
    _add_reading(verbs)
    _add_changing(verbs)
    _add_walking(verbs)


def _add_reading(verbs: Verbs) -> None:
    verb = add_verb(verbs, "links", "links:links", "list the links of a memory, or the proposed links", listing=True)
    verb.add_argument("id", metavar="ID", type=positive, nargs="?", help="a memory; default: all proposed links")
    verb.add_argument("--status", choices=STATUSES, help="only links with this status (default: active and proposed)")
    _add_types(verb)
    _add_extent(verb)
    verb = add_verb(verbs, "conflicts", "links:conflicts", "list memories that contradict each other", listing=True)
    verb.add_argument("--status", choices=STATUSES, help="only links with this status (default: active and proposed)")
    _add_extent(verb)


def _add_changing(verbs: Verbs) -> None:
    verb = add_verb(verbs, "link", "links:link", "link two memories: link 15 SUPERSEDES 12", listing=True)
    verb.add_argument("source", metavar="SOURCE", type=positive)
    verb.add_argument("type", metavar="TYPE", help="SUPPORTS, CONTRADICTS, SUPERSEDES, EXTENDS, REQUIRES, CAUSED, ...")
    verb.add_argument("target", metavar="TARGET", type=positive)
    verb.add_argument("--reason", help="why they are linked; kept as evidence")
    add_ids(add_verb(verbs, "confirm", "links:confirm", "confirm proposed links", listing=True))
    add_ids(add_verb(verbs, "unlink", "links:unlink", "remove wrong links; they are not proposed again", listing=True))
    verb = add_verb(verbs, "relink", "links:relink", "change the type or direction of a link", listing=True)
    verb.add_argument("id", metavar="LINK", type=positive)
    verb.add_argument("type", metavar="TYPE", nargs="?", help="the new type; default: the type it has")
    verb.add_argument("--reverse", action="store_true", help="swap source and target")
    verb.add_argument("--reason", help="kept in the history")


def _add_walking(verbs: Verbs) -> None:
    verb = add_verb(verbs, "graph", "graphs:graph", "show the memories linked with one, in several steps", listing=True)
    verb.add_argument("id", metavar="ID", type=positive)
    _add_depth(verb)
    _add_types(verb)
    verb.add_argument("--mermaid", action="store_true", help="print a Mermaid diagram")
    verb.add_argument("--everywhere", action="store_true", help="follow links into other projects")
    verb = add_verb(verbs, "why", "graphs:why", "show why something is so, as a chain of reasons", listing=True)
    verb.add_argument("question", metavar="ID|QUESTION", nargs="+", help="a memory's number, or a question")
    _add_depth(verb)


def _add_types(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--type", metavar="TYPE", nargs="+", default=[], help="only links of these types")


def _add_extent(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--everywhere", action="store_true", help="in all projects, not only this one")
    verb.add_argument("--limit", type=positive, default=50, help="show at most this many (50)")


def _add_depth(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--depth",
        type=positive,
        default=3,
        choices=range(1, 7),
        metavar="N",
        help="follow at most this many steps, 1 to 6 (3)",
    )
