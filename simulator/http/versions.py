"""What later versions of the API leave out of answers. The description that answers are checked against is the first one's."""

from __future__ import annotations

from simulator.http.exchange import Answer

VERSIONS = ("2022-11-28", "2026-03-10")
_LEFT_OUT = {"2026-03-10": {"pulls/get": "merge_commit_sha", "pulls/list": "merge_commit_sha", "pulls/create": "merge_commit_sha"}}


def for_version(answer: Answer, operation_id: str, version: str | None) -> Answer:
    """The answer as a version of the API gives it."""
    field = _LEFT_OUT.get(version or "", {}).get(operation_id)
    if field is None:
        return answer
    body = [_without(one, field) for one in answer.body] if isinstance(answer.body, list) else _without(answer.body, field)
    return Answer(body, answer.status, answer.headers, answer.media_type)


def _without(shown: object, field: str) -> object:
    return {name: value for name, value in shown.items() if name != field} if isinstance(shown, dict) else shown
