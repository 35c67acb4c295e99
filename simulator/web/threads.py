"""Review threads: the lines they are about, the comments, the suggestion as a diff and its button."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.reviewing import is_outdated
from simulator.suggestions import suggestion_in
from simulator.web.diffs import commented_lines, excerpt_table, suggestion_table
from simulator.web.frame import author, avatar, pull_path, when
from simulator.web.markdown import render
from simulator.web.markup import Html, element, fragment

if TYPE_CHECKING:
    from simulator.conversation import Reaction, ReviewComment
    from simulator.pull_request import PullRequest

EMOJIS = {"+1": "👍", "-1": "👎", "laugh": "😄", "confused": "😕", "heart": "❤️", "hooray": "🎉", "rocket": "🚀", "eyes": "👀"}


def thread(pull: PullRequest, opener: ReviewComment, *, with_lines: bool = True) -> Html:
    """A thread; resolved and outdated ones are folded, as on GitHub."""
    replies = [one for one in pull.review_comments if one.in_reply_to == opener.id]
    outdated, resolver = is_outdated(pull, opener), pull.resolved_threads.get(opener.id)
    marks = [element("span.label.outdated", "Outdated") if outdated else None, element("span.label", "Resolved") if resolver else None]
    where = opener.anchor
    place = where.path if where.line is None else f"{where.path}:{where.start_line or where.line}"
    content = fragment(
        excerpt_table(where) if with_lines else None,
        [_comment(pull, one, outdated=outdated) for one in (opener, *replies)],
    )
    if not with_lines:
        return element("div.thread", content)
    head = element("span.file", place)
    if outdated or resolver:
        return element("details.thread", element("summary.thread-head", head, marks), content, id=f"discussion_r{opener.id}")
    return element("div.thread", element("div.thread-head", head, marks), content, id=f"discussion_r{opener.id}")


def reactions(given: tuple[Reaction, ...]) -> Html | None:
    """The emojis under a comment, counted."""
    if not given:
        return None
    counts = {content: sum(one.content == content for one in given) for content in dict.fromkeys(one.content for one in given)}
    return element("div.reactions", [element("span.reaction", f"{EMOJIS[content]} {count}") for content, count in counts.items()])


def _comment(pull: PullRequest, comment: ReviewComment, *, outdated: bool) -> Html:
    def suggest(text: str) -> Html:
        return _suggestion(pull, comment, text, outdated=outdated)

    head = element("div.note-head", avatar(comment.user), author(comment.user), " ", when(comment.created_at))
    return element("div.note", head, element("div.markdown", render(comment.body, suggest)), reactions(comment.reactions))


def _suggestion(pull: PullRequest, comment: ReviewComment, text: str, *, outdated: bool) -> Html:
    where = comment.anchor
    old, new = commented_lines(where), text.removesuffix("\n").split("\n") if text else []
    table = suggestion_table(where.path, old, new, where.start_line or where.line or 1)
    first = suggestion_in(comment.body) == text
    button: Html | None = None
    if first and not outdated and pull.state == "open" and where.side == "RIGHT" and old != new:
        address = f"{pull_path(pull)}/suggestions/{comment.id}"
        button = element("form", element("button.small", "Commit suggestion", type="submit"), method="post", action=address)
    note = "Suggested change" if not outdated else "Suggested change (outdated, cannot be applied)"
    return element("div.suggestion", element("div.suggestion-head", note, button), table)
