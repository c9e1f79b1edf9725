"""Settings with other values of the fixed numbers, for experiments."""

from __future__ import annotations

from typing import Any, ClassVar

from subconscious.settings.settings import Settings
from subconscious.settings.tuning import Tuning


def tuned(**values: Any) -> Settings:
    """Make settings of ``values``, which may name numbers of ``Tuning`` as well."""
    fixed = {name: value for name, value in values.items() if name in Tuning.__annotations__}
    chosen = {name: value for name, value in values.items() if name not in fixed}
    annotations = dict.fromkeys(fixed, ClassVar[Any])
    body = {"__annotations__": annotations, "__module__": __name__, **fixed}
    kind: type[Settings] = type("Tuned", (Settings,), body)
    return kind(**chosen)
