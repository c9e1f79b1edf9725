"""Claude Code's transcripts: reads JSONL lines and returns turns with the origin of their words."""

from subconscious.transcripts.reading import BATCH_BYTES, Reading, read_turns
from subconscious.transcripts.state import State

__all__ = ["BATCH_BYTES", "Reading", "State", "read_turns"]
