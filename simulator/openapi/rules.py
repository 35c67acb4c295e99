"""The documented rules that the OpenAPI leaves out: between fields, and about what stands inside them.

Each rule looks at a request body that already fits its schema and says what is wrong with it, in GitHub's words where they
are known. Sources: the operation's own description in the document, and docs.github.com/rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

Body = Mapping[str, object]
Rule = Callable[[Body], str | None]

MAX_COMMENT_CHARACTERS = 65_536
MAX_ANNOTATION_BYTES = 64 * 1024
MAX_ANNOTATION_TITLE = 255
SIDES = ("LEFT", "RIGHT")


def rule_problem(operation_id: str, body: Body) -> str | None:
    """The first documented rule of an operation that a body breaks."""
    return next((problem for rule in _RULES.get(operation_id, ()) if (problem := rule(body))), None)


def _completed_has_conclusion(body: Body) -> str | None:
    if (body.get("status") == "completed" or "completed_at" in body) and "conclusion" not in body:
        return "A conclusion is required when the status is completed or completed_at is given."
    return None


def _conclusion_completes(body: Body) -> str | None:
    if body.get("conclusion") == "stale":
        return "Only GitHub can set the conclusion stale."
    if "conclusion" in body and body.get("status", "completed") != "completed":
        return "A conclusion cannot be given while the status is not completed."
    return None


def _output_has_title(body: Body) -> str | None:
    output = cast("Body", body.get("output", {}))
    if "output" in body and not str(output.get("title") or "").strip():
        return "output/title: is required and cannot be blank."
    if "output" in body and not str(output.get("summary") or "").strip():
        return "output/summary: is required and cannot be blank."
    return None


def _annotations_fit(body: Body) -> str | None:
    output = cast("Body", body.get("output", {}))
    for at, annotation in enumerate(cast("list[Body]", output.get("annotations", []))):
        if problem := _annotation_problem(annotation):
            return f"output/annotations/{at}: {problem}"
    return None


def _annotation_problem(annotation: Body) -> str | None:
    start, end = cast("int", annotation["start_line"]), cast("int", annotation["end_line"])
    columns = [cast("int", annotation[name]) for name in ("start_column", "end_column") if name in annotation]
    if not 1 <= start <= end:
        return f"lines {start} to {end} are no range; line numbers start at 1."
    if columns and start != end:
        return "start_column and end_column are only allowed when start_line and end_line are the same."
    if any(column < 1 for column in columns):
        return "column numbers start at 1."
    path = str(annotation["path"])
    if not path or path.startswith("/"):
        return "path must be relative to the root of the repository."
    for name in ("message", "raw_details"):
        if len(str(annotation.get(name, "")).encode()) > MAX_ANNOTATION_BYTES:
            return f"{name} is larger than 64 KB."
    if len(str(annotation.get("title", ""))) > MAX_ANNOTATION_TITLE:
        return f"title is longer than {MAX_ANNOTATION_TITLE} characters."
    return "message cannot be blank." if not str(annotation["message"]).strip() else None


def _name_is_given(body: Body) -> str | None:
    return "name cannot be blank." if "name" in body and not str(body["name"]).strip() else None


def _details_url_is_web(body: Body) -> str | None:
    url = str(body.get("details_url", "https://"))
    return None if url.startswith(("http://", "https://")) else "details_url must use the http or https scheme."


def _body_fits(body: Body) -> str | None:
    text = str(body.get("body", ""))
    if len(text) > MAX_COMMENT_CHARACTERS:
        return f"Body is too long (maximum is {MAX_COMMENT_CHARACTERS} characters)"
    return None


def _body_is_given(body: Body) -> str | None:
    return None if str(body.get("body", "")).strip() else "Body can't be blank"


def _review_has_body(body: Body) -> str | None:
    if body.get("event") in ("COMMENT", "REQUEST_CHANGES"):
        return _body_is_given(body)
    return None


def _review_comments_fit(body: Body) -> str | None:
    for comment in cast("list[Body]", body.get("comments", [])):
        problem = _body_fits(comment) or _body_is_given(comment) or _sides_are_known(comment)
        if problem is None and "line" not in comment and "position" not in comment:
            problem = "Pull request review thread line or position can't be blank"
        if problem or (problem := _lines_in_order(comment)):
            return problem
    return None


def _sides_are_known(body: Body) -> str | None:
    for name in ("side", "start_side"):
        if name in body and body[name] not in SIDES:
            return f"{name} must be one of {', '.join(SIDES)}."
    return None


def _lines_in_order(body: Body) -> str | None:
    start, line = body.get("start_line"), body.get("line")
    if start is None:
        return "start_side is given without start_line." if body.get("start_side") else None
    if line is None:
        return "start_line is given without line."
    one_side = body.get("start_side", body.get("side", "RIGHT")) == body.get("side", "RIGHT")
    if one_side and cast("int", start) >= cast("int", line):
        return "Pull request review thread start line must precede the end line."
    return None


def _line_or_file(body: Body) -> str | None:
    given = any(name in body for name in ("line", "position", "in_reply_to"))
    if body.get("subject_type") == "file":
        return "a comment on a file has no line." if given else None
    return None if given else "Pull request review thread line can't be blank"


_CHECK: tuple[Rule, ...] = (
    _name_is_given,
    _completed_has_conclusion,
    _conclusion_completes,
    _output_has_title,
    _annotations_fit,
    _details_url_is_web,
)
_COMMENT: tuple[Rule, ...] = (_body_fits, _body_is_given)
_RULES: dict[str, tuple[Rule, ...]] = {
    "checks/create": _CHECK,
    "checks/update": _CHECK,
    "issues/create-comment": _COMMENT,
    "issues/update-comment": _COMMENT,
    "pulls/create-review": (_body_fits, _review_has_body, _review_comments_fit),
    "pulls/submit-review": (_body_fits, _review_has_body),
    "pulls/update-review": _COMMENT,
    "pulls/create-review-comment": (*_COMMENT, _line_or_file, _sides_are_known, _lines_in_order),
    "pulls/create-reply-for-review-comment": _COMMENT,
    "pulls/update-review-comment": _COMMENT,
}
