"""Runs the command for bin/subconscious: creates the environment if needed, then replaces itself with the program.

Usage: ``python3 -I -S -B terminal.py ARGUMENTS``. A person runs it, so it reports errors.
"""

import os
import sys

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from hooks.drop import environ_for_python, find_home
from hooks.environment import ROOT, find_environment


def main(arguments: "list[str]") -> None:
    """Replace this process with the terminal program of the environment."""
    home = find_home()
    if home is None:
        sys.exit(
            "subconscious: there is no folder for memories: set SUBCONSCIOUS_HOME to a folder that you may write to"
        )
    environment = find_environment(home)
    if environment is None:
        from hooks.maker import make_in_sight

        environment = make_in_sight(home)
    face = os.path.join(environment, "bin", "subconscious")
    os.execve(face, [face, *arguments], {**environ_for_python(), "SUBCONSCIOUS_PLUGIN_ROOT": ROOT})


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"subconscious: {error}")
