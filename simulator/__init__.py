"""A strict GitHub on your own machine, for the demo and for tests.

Everything listens on 127.0.0.1, is backed by real bare git repositories in a temporary folder, and is gone afterwards:

    async with Simulator.start() as github:
        github.webhook_url = "http://127.0.0.1:8000/webhook"
        repository = github.create_repository("octo/train", {"train.py": "..."})
        pull = repository.open_pull_request("faster", title="Train faster", files={"train.py": "..."})
        await github.deliveries_settled()
        assert pull.reviews and not github.violations

**For the App**: `api_url` (REST, GraphQL at `/graphql` below it; the same under `/api/v3` and `/api/graphql` as an Enterprise
server has it), `app_id`, `private_key` (PEM), `webhook_secret`, `bot` (the account it writes as). Archives come from
another loopback port by a signed address, as they come from another host on GitHub.

**People** act through plain calls, which send the events that GitHub would send:
`repository.commit(branch, {path: text | bytes | None}, message)`, `.open_pull_request(head, base, title, files=...)`,
`.fork(owner)`, `.grant(login, role)`, `.read(revision, path)`, `.head(branch)`;
`pull.push(files)`, `.force_push(files)`, `.comment(user, body)`, `.edit_comment(id, body)`, `.reply(comment_id, user, body)`,
`.resolve_thread(comment_id)`, `.apply_suggestion(comment_id)`, `.close()`, `.reopen()`, `.merge()`, `.set_draft(draft=...)`,
`.set_labels(...)`, `.change_base(branch)`; `rerequest(repository, run, account)` and `request_action(...)` in
`simulator.checking` press the buttons of a check run.

**What was posted**: `pull.comments` (the conversation), `pull.reviews`, `pull.review_comments`, `pull.head_sha`,
`repository.check_runs(sha)`, `repository.sarif_uploads`: frozen records with plain fields. The same as a page:
`{web_url}/{owner}/{repo}/pull/{number}`.

**What was asked**: `github.requests`, `github.counts["pulls/create-review"]` by GitHub's operation ids, and
`github.violations`: every request that GitHub's own OpenAPI description or a documented rule refuses. Fields and query
parameters that GitHub would silently ignore are refused too. The simulator checks its own answers in the same way.

**What goes wrong**: `github.fail_next("POST", r"/reviews$", BadGateway(after_write=True))` with the faults `RateLimited`,
`Exhausted`, `BadGateway`, `Drop`, `Delay`, `StaleHead`, `Refuse`; `github.webhooks.lose_next("pull_request")`,
`.double_next(...)`, `.hold()` and `.release(reverse=True)`, `.redeliver(delivery)` with `.deliveries` the record of attempts;
`github.clock.advance(3600)` lets tokens expire; `github.limits` lowers ceilings such as the size of a tree.

Stricter than GitHub: a token reaches only what its installation reaches, public repositories of others included.
"""

from simulator.http.faults import BadGateway, Delay, Drop, Exhausted, RateLimited, Refuse, StaleHead
from simulator.pull_request import PullRequest
from simulator.repository import Repository
from simulator.simulator import Simulator
from simulator.suggestions import SuggestionRefusedError

__all__ = [
    "BadGateway",
    "Delay",
    "Drop",
    "Exhausted",
    "PullRequest",
    "RateLimited",
    "Refuse",
    "Repository",
    "Simulator",
    "StaleHead",
    "SuggestionRefusedError",
]
