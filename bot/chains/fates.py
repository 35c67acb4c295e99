"""What became of the findings of a pull request, noted when it is read again and when it is closed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.github.conversation import Conversation, Thread
from bot.ledger import Entry, Fate, Ledger
from bot.review.inline import FINDING
from bot.review.located import LocatedFinding
from bot.review.marker import Signer, digest

_SUGGESTION = re.compile(r"^(`{3,})suggestion\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_UNDECIDED = frozenset({Fate.OPEN, Fate.RESOLVED})


@dataclass(frozen=True, slots=True)
class Fates:
    """The ledger of one pull request; ``threads`` are those that were opened there before, by the digest of their finding."""

    ledger: Ledger
    repository: int
    number: int
    threads: Mapping[str, Thread]

    @classmethod
    def of(cls, ledger: Ledger, repository: int, number: int, conversation: Conversation, signer: Signer) -> Fates:
        """The fates of a pull request's findings, told from its ``conversation``."""
        threads: dict[str, Thread] = {}
        for thread in conversation.threads:
            opener = thread.opener
            if opener is not None and opener.is_ours:
                threads |= dict.fromkeys(signer.facts(FINDING, opener.body), thread)
        return cls(ledger, repository, number, threads)

    async def read_again(self, introduced: Iterable[LocatedFinding], texts: Iterable[str]) -> None:
        """Note which findings are there (``introduced``), and how the others went: ``texts`` are the changed files as they are now."""
        present = {digest(each.fingerprint): each.rule for each in introduced}
        files = tuple(texts)
        gone = {
            finding: Entry(entry.rule, self._how(finding, entry.rule, files))
            for finding, entry in (await self.ledger.of(self.repository, self.number)).items()
            if finding not in present and entry.fate in _UNDECIDED
        }
        here = {finding: Entry(rule, Fate.RESOLVED if self._is_resolved(finding) else Fate.OPEN) for finding, rule in present.items()}
        await self.ledger.note(self.repository, self.number, here | gone)

    async def merged(self) -> None:
        """Note what was merged as it was: with its thread resolved, or with no word."""
        known = await self.ledger.of(self.repository, self.number)
        fates = {finding: Fate.RESOLVED if self._is_resolved(finding) else Fate.IGNORED for finding, entry in known.items() if entry.fate in _UNDECIDED}
        await self.ledger.note(self.repository, self.number, {finding: Entry(known[finding].rule, fate) for finding, fate in fates.items()})

    def _is_resolved(self, finding: str) -> bool:
        return finding in self.threads and self.threads[finding].is_resolved

    def _how(self, finding: str, rule: str, files: tuple[str, ...]) -> Fate:
        silencing = re.compile(rf"#\s*preflight:\s*ignore(?:-file)?\[[^\]]*\b{re.escape(rule)}\b")
        if any(silencing.search(file) for file in files):
            return Fate.SUPPRESSED
        thread = self.threads.get(finding)
        suggested = _SUGGESTION.search(thread.opener.body) if thread is not None and thread.opener is not None else None
        if suggested is not None and suggested[2].strip() and any(suggested[2] in file for file in files):
            return Fate.APPLIED
        return Fate.FIXED
