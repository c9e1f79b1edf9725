"""``subconscious ui``: open a local web page that shows the memories."""

from __future__ import annotations

from argparse import Namespace

from . import screen
from .ask import ask, here
from .installing import ensure_extra
from .origin import require_person


def ui(options: Namespace) -> int:
    """Have the daemon serve the web page, and print a link to it; with ``--close``, close the page."""
    if options.close:
        print("The web page is closed." if ask("ui_close")["closed"] else "The web page is not open.")
        return 0
    require_person("open the web page")
    if not ensure_extra("page"):
        return 1
    link = ask("ui", cwd=here(), origin="user")["url"]
    if options.json:
        screen.as_json({"url": link})
        return 0
    # The link is not opened here: other programs of the user could read it in the browser's arguments.
    print(f"Open this link in your browser. It works once, within ten minutes:\n\n  {screen.paint(link, 'bold')}\n")
    print("The page closes after 20 minutes without use, or with: subconscious ui --close")
    return 0
