"""Pull requests and their files."""

from __future__ import annotations

from simulator.errors import ApiError, unprocessable
from simulator.http.exchange import Answer, Call, paged
from simulator.pull_request import Proposal, PullRequest
from simulator.representation.pulls import pull_json, pull_summary_json
from simulator.representation.repositories import file_json
from simulator.rest.commits import diff_answer, wants_diff
from simulator.rest.registry import answers


@answers("pulls/list")
def list_pulls(call: Call) -> Answer:
    """Pull requests, the newest first; open ones unless asked otherwise."""
    state = call.query.get("state", "open")
    head, base = call.query.get("head"), call.query.get("base")
    found = [
        pull
        for pull in call.repository.pulls.values()
        if state in ("all", pull.state) and base in (None, pull.base_branch) and head in (None, f"{pull.head_repository.owner.login}:{pull.head_branch}")
    ]
    by_update = call.query.get("sort") == "updated"
    newest_first = call.query.get("direction", "desc") == "desc"
    found.sort(key=lambda pull: (pull.updated_at if by_update else pull.created_at, pull.number), reverse=newest_first)
    return paged(call, [pull_summary_json(pull) for pull in found])


@answers("pulls/get")
def get_pull(call: Call) -> Answer:
    """One pull request, or its diff."""
    pull = call.pull
    if wants_diff(call):
        return diff_answer(call.repository, pull.merge_base, pull.head_sha)
    heads = pull.heads()
    old_head = heads[-2] if call.stale and len(heads) > 1 else None
    return Answer(pull_json(pull, old_head))


@answers("pulls/list-files")
def list_files(call: Call) -> Answer:
    """The changed files, at most 3,000."""
    pull = call.pull
    files = pull.files()[: call.platform.limits.pull_files]
    return paged(call, [file_json(call.repository, one, pull.head_sha) for one in files])


@answers("pulls/create")
def create_pull(call: Call) -> Answer:
    """Open a pull request as the App."""
    repository = call.repository
    owner, _, branch = str(call.body["head"]).rpartition(":")
    try:
        source = repository if owner in ("", repository.owner.login) else repository.fork_of(owner)
        source.head(branch)
        repository.head(str(call.body["base"]))
    except LookupError as problem:
        raise ApiError(422, "Validation Failed", [{"resource": "PullRequest", "code": "invalid", "message": str(problem)}]) from problem
    title = call.given("title")
    if not title:
        raise unprocessable("title can't be blank")
    draft = bool(call.body.get("draft"))
    proposal = Proposal(source, branch, str(call.body["base"]), title, call.given("body") or "", call.bot, draft)
    return Answer(pull_json(PullRequest.open(repository, proposal)), 201)
