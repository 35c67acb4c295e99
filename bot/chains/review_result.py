"""What was found and what stands on the pull request already, and so what is still to be posted; nothing here speaks to GitHub."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.finding import Safety
from analysis.settings import CommentStyle, Settings
from bot.chains.review_state import diff_of
from bot.github.comments import marked
from bot.github.conversation import Conversation, Said, Thread
from bot.github.reviews import posted_in
from bot.github.threads import gone
from bot.job import Json
from bot.review.action import APPLY_FIXES, RERUN, Action
from bot.review.annotation import Annotation, annotate
from bot.review.comment import MEMORY, memory_comment
from bot.review.inline import InlineReview, inline_review
from bot.review.located import LocatedFinding
from bot.review.marker import Signer, digest
from bot.review.memory_suggestion import MemorySuggestion, memory_suggestions
from bot.review.result import Review
from bot.review.suggestion import as_lines

RETIRED = "This change no longer touches training code."


@dataclass(frozen=True, slots=True)
class Result:
    """The ``review`` of the head in ``state``; ``contents`` are the files of the head that a suggestion may change."""

    state: Json
    review: Review
    settings: Settings
    contents: dict[str, bytes]
    conversation: Conversation
    signer: Signer

    @property
    def head(self) -> str:
        """The commit that was read."""
        head: str = self.state["head"]
        return head

    def inline(self) -> InlineReview | None:
        """The review on the lines, once a head; a finding has one thread, whenever that was opened."""
        posted = posted_in(self.conversation, self.signer)
        if not self.settings.suggestions or self.head in posted.heads:
            return None
        return inline_review(self.review.introduced, diff_of(self.state), self.contents, self.signer, self.head, posted.findings, self._memory())

    def annotations(self, inline: InlineReview | None) -> list[Annotation]:
        """Findings that have no thread and get none by ``inline``, on whatever line they stand: none is lost."""
        planned = () if inline is None else inline.shown
        shown = {*posted_in(self.conversation, self.signer).findings, *(digest(finding.fingerprint) for finding in planned)}
        rest = sorted((each for each in self.review.introduced if digest(each.fingerprint) not in shown), key=lambda each: each.rank)
        return [annotate(finding, self._patched(finding)) for finding in rest]

    def actions(self) -> tuple[Action, ...]:
        """The buttons under the completed check."""
        fixable = any(finding.fix is not None and finding.fix.safety is Safety.SAFE for finding in self.review.introduced)
        return (APPLY_FIXES, RERUN) if fixable else (RERUN,)

    def gone(self) -> list[Thread]:
        """Threads of findings that this head no longer has; where a file could not be read, silence about it proves nothing."""
        if self.review.not_analysed or self.review.problems:
            return []
        found = (*self.review.introduced, *self.review.existing)
        present = {digest(finding.fingerprint) for finding in found} | {digest(each.identity) for each in self._memory()}
        return gone(self.conversation.threads, self.signer, present)

    def memory_comments(self) -> list[Said]:
        """Our memory comments: one, unless two writers have met."""
        return marked(self.conversation.comments, self.signer, MEMORY)

    def memory_body(self) -> str | None:
        """What the memory comment is to say; None where there is to be none, or the one that is there stays."""
        comment = memory_comment(self.review, self.settings)
        existing = self.memory_comments()
        if self.settings.comment is CommentStyle.OFF or (comment is None and not existing):
            return None
        if comment is None:
            return f"{self.signer.mark(MEMORY)}\n{RETIRED}"
        return comment.signed(self.signer) if existing or comment.news else None

    def _memory(self) -> list[MemorySuggestion]:
        return memory_suggestions(self.review, self.settings.memory_threshold, diff_of(self.state), self.contents)

    def _patched(self, finding: LocatedFinding) -> str | None:
        if finding.fix is None or not finding.fix.edits or finding.fix.edits[0].path not in self.contents:
            return None
        return as_lines(finding.fix, self.contents[finding.fix.edits[0].path])
