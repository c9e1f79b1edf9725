"""Who pays for remote embeddings: the same account, under the same cap a day, as for any other model."""

from __future__ import annotations

from time import time

from subconscious.llm.spending import Sold, Spending, tomorrow
from subconscious.model import Usage

from .sense import Purse

PURPOSE = "embedding"


class Account(Purse):
    """Holds embeddings against the day's cap, and puts each call on record.

    ``spending`` may be shared with the models', so that a cap that a person changes holds for both.
    """

    def __init__(self, spending: Spending, base_url: str) -> None:
        self.spending = spending
        self._base_url = base_url

    async def wait(self, embedder: str, model: str, tokens: int) -> float:
        """Until tomorrow, where so many tokens would pass today's cap."""
        more = self.spending.counted(self._sold(embedder, model), Usage(tokens))
        if not more or await self.spending.allows(more):
            return 0.0
        return max(1.0, tomorrow() - time())

    async def spent(self, embedder: str, model: str, tokens: int) -> None:
        """Record what was charged already: it is true whatever the cap says."""
        await self.spending.note(self._sold(embedder, model), PURPOSE, Usage(tokens))

    def _sold(self, embedder: str, model: str) -> Sold:
        return Sold(embedder, model, self._base_url)
