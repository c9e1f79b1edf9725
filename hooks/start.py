"""Runs one hook: ``python3 -I -S start.py drop|ask|wake EVENT``. Exits with 0, or fails before it has done anything.

Python compiles the main script anew each time, a tenth of a hook's time; the modules that it imports are cached.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Outside of the `try`: a Python that is too old must fail, because hooks/run then tries the next one.
hook = __import__("hooks." + sys.argv[1], fromlist=["main"])
try:
    hook.main(sys.argv[2])
except Exception:  # noqa: BLE001 - a hook that fails shows an error to a person who can't do anything about it
    pass
# Skips the interpreter's clean-up, a twentieth of the hook's time. Nothing is buffered.
os._exit(0)
