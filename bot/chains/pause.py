"""Whether a pull request is paused: the last of our own answers to ``/preflight pause`` and ``/preflight resume`` says so.

The state stands in the conversation, where everybody sees it, and so outlives the database.
"""

from __future__ import annotations

from bot.github.conversation import Conversation
from bot.review.marker import Signer

PAUSED = "paused"
RESUMED = "resumed"


def is_paused(conversation: Conversation, signer: Signer) -> bool:
    """Whether the last of our marks about it says paused."""
    paused = False
    for said in conversation.comments:
        if said.is_ours:
            paused = paused or any(True for _ in signer.facts(PAUSED, said.body))
            paused = paused and not any(True for _ in signer.facts(RESUMED, said.body))
    return paused
