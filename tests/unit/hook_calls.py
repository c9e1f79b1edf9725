"""Moved to tests.support.hook_calls; the old name is kept until nothing imports it."""

from tests.support.hook_calls import *  # noqa: F403
