"""What an idle daemon gives back to the system."""

from __future__ import annotations

import gc
import subprocess
import sys
from functools import cache, lru_cache
from pathlib import Path

import pytest

from subconscious.embeddings.local import LocalEmbedder
from subconscious.embeddings.wordpiece import bert_uncased
from subconscious.system import heap

ROOT = Path(__file__).parents[2]
MEASURED = """
from subconscious.system import heap
from subconscious.embeddings.embedder import open_embedder

def files():
    return int(open("/proc/self/status").read().split("RssFile:")[1].split()[0])

embedder = open_embedder("local")
before = embedder.embed(["a text"])
embedder.unload()
loaded = files()
heap.drop_libraries(("onnxruntime",))
assert (embedder.embed(["a text"]) == before).all()
embedder.unload()
heap.drop_libraries(("onnxruntime",))
print(loaded - files())
"""


@lru_cache(maxsize=heap.LARGE_CACHE)
def large(text: str) -> str:
    return text * 2


@lru_cache(maxsize=8)
def small(text: str) -> str:
    return text * 2


@cache
def single() -> str:
    return "a compiled pattern"


@pytest.mark.slow
def test_only_large_caches_are_emptied() -> None:
    for function in (large, small):
        function("a")
    single()
    heap.empty_caches()
    assert [one.cache_info().currsize for one in (large, small, single)] == [0, 1, 1]


def test_a_cache_that_was_frozen_at_the_start_is_emptied() -> None:
    large("a")
    gc.freeze()
    assert gc.get_freeze_count() > 0
    heap.empty_caches()
    assert large.cache_info().currsize == 0
    assert gc.get_freeze_count() == 0


def test_an_unloaded_model_keeps_no_vocabulary() -> None:
    model = LocalEmbedder()
    first = model.embed(["The quick brown fox"])
    assert bert_uncased.cache_info().currsize == 1
    model.unload()
    assert bert_uncased.cache_info().currsize == 0
    assert (model.embed(["The quick brown fox"]) == first).all()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc and the advice are Linux's own")
def test_the_pages_of_a_library_are_dropped_and_read_again() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) > 2_000, "kB of the runtime's pages"
