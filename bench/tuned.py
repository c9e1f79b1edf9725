"""Settings with other numbers than those that are fixed, to try what they are worth."""

from __future__ import annotations

from typing import Any, ClassVar

from subconscious.settings import Settings
from subconscious.tuning import Tuning


def tuned(**values: Any) -> Settings:
    """Make settings of ``values``, which may name numbers of ``Tuning`` as well."""
    fixed = {name: value for name, value in values.items() if name in Tuning.__annotations__}
    chosen = {name: value for name, value in values.items() if name not in fixed}
    annotations = dict.fromkeys(fixed, ClassVar[Any])
    body = {"__annotations__": annotations, "__module__": __name__, **fixed}
    kind: type[Settings] = type("Tuned", (Settings,), body)
    return kind(**chosen)
