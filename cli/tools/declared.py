"""The declaration of the tools for MCP clients, used by the server and by hooks/greet.py.

``python -m cli.tools.declared`` writes it into hooks/tools.json; a test compares the two.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .framing import CLOSES, OPENS
from .protocol import GREETED_VERSIONS, NAME
from .results import Result
from .table import INSTRUCTIONS, TOOLS
from .tool import Tool


def tools() -> list[dict[str, Any]]:
    """Return all tools in the format of ``tools/list``."""
    return [_declared(tool) for tool in TOOLS]


def _declared(tool: Tool) -> dict[str, Any]:
    changes = {} if tool.reads else {"destructiveHint": False, "idempotentHint": False}
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.arguments.schema_of(),
        "outputSchema": _schema(tool.result),
        "annotations": {"readOnlyHint": tool.reads, **changes, "openWorldHint": False},
    }


def _schema(result: type[Result]) -> dict[str, Any]:
    """Return the schema of a result, with the two fields (the frame) that mark it as quoted data."""
    whole = _untitled(result.model_json_schema(mode="serialization"))
    ends = {"type": "string"}
    fields = {OPENS: ends, **whole["properties"], CLOSES: ends}
    definitions = {"$defs": whole["$defs"]} if "$defs" in whole else {}
    required = [OPENS, *_required_fields(result), CLOSES]
    return {"type": "object", "properties": fields, "required": required} | definitions


def _required_fields(result: type[Result]) -> list[str]:
    return [name for name, field in result.model_fields.items() if field.is_required()]


def _untitled(value: Any) -> Any:
    """Return a JSON schema without titles, descriptions and defaults; a field that is named ``title`` is kept."""
    if isinstance(value, list):
        return [_untitled(one) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("properties"), dict):
        value = value | {"properties": {name: _untitled(one) for name, one in value["properties"].items()}}
        return {
            key: inner if key == "properties" else _untitled(inner) for key, inner in value.items() if _is_kept(key)
        }
    return {key: _untitled(inner) for key, inner in value.items() if _is_kept(key)}


def _is_kept(key: str) -> bool:
    return key not in ("title", "description", "default")


def declaration() -> dict[str, Any]:
    """Return everything that the answer to ``initialize`` and ``tools/list`` needs."""
    versions = list(GREETED_VERSIONS)
    return {"name": NAME, "instructions": INSTRUCTIONS, "protocol_versions": versions, "tools": tools()}


def written() -> str:
    """Return the content of hooks/tools.json."""
    return json.dumps(declaration(), indent=1) + "\n"


if __name__ == "__main__":
    (Path(__file__).resolve().parents[2] / "hooks" / "tools.json").write_text(written(), encoding="utf-8")
    sys.exit(0)
