"""Moved to tests.support.frames; the old name is kept until nothing imports it."""

from tests.support.frames import *  # noqa: F403
