"""Moved to tests.support.fake_openai; the old name is kept until nothing imports it."""

from tests.support.fake_openai import *  # noqa: F403
