"""Runs one hook: ``python3 -I -S start.py drop|ask|wake EVENT``. Exits 0, or fails before anything was done.

Python compiles the script it is given anew each time, a tenth of what a hook costs; what this imports is cached.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Not within the `try`: a Python too old to read it must say so, for hooks/run then asks the next one.
hook = __import__("hooks." + sys.argv[1], fromlist=["main"])
try:
    hook.main(sys.argv[2])
except Exception:  # noqa: BLE001 - a hook that fails shows an error to a person who can't do anything about it
    pass
# Skips the interpreter's tidying up, a twentieth of the hook's time. Nothing is buffered.
os._exit(0)
