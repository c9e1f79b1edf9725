"""Moved to tests.support.stub_daemon; the old name is kept until nothing imports it."""

from tests.support.stub_daemon import *  # noqa: F403
