"""What tests start is no slower than it is for a user."""

import os
import shutil
import sys
from pathlib import Path


def test_hooks_find_an_interpreter_and_no_script() -> None:
    found = shutil.which("python3")
    assert found
    assert Path(found).read_bytes()[:2] != b"#!"


def test_bytecode_is_kept() -> None:
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ
    assert not sys.dont_write_bytecode
