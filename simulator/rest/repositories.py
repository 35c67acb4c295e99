"""Repositories, branches and collaborators."""

from __future__ import annotations

from simulator.errors import not_found
from simulator.http.exchange import Answer, Call
from simulator.representation.accounts import user_json
from simulator.representation.repositories import api_url, commit_json, repository_json, web_url
from simulator.rest.registry import answers

_LEVELS = {
    "none": "none",
    "read": "read",
    "triage": "read",
    "write": "write",
    "maintain": "write",
    "admin": "admin",
}


@answers("repos/get")
def get_repository(call: Call) -> Answer:
    """The repository."""
    return Answer(repository_json(call.repository))


@answers("repos/get-branch")
def get_branch(call: Call) -> Answer:
    """A branch and its tip."""
    repository, branch = call.repository, call.text("branch")
    sha = repository.git.resolve(f"refs/heads/{branch}")
    if sha is None:
        raise not_found()
    url = f"{api_url(repository)}/branches/{branch}"
    return Answer(
        {
            "name": branch,
            "commit": commit_json(repository, repository.git.commit_of(sha)),
            "_links": {"self": url, "html": f"{web_url(repository)}/tree/{branch}"},
            "protected": False,
            "protection": {"enabled": False},
            "protection_url": f"{url}/protection",
        }
    )


@answers("repos/get-collaborator-permission-level")
def get_permission(call: Call) -> Answer:
    """What an account may do: the older `permission` knows four levels, `role_name` all of them."""
    user = call.platform.known_account(call.text("username"))
    if user is None:
        raise not_found()
    role = call.repository.role(user.login)
    level = _LEVELS[role]
    shown = {
        **user_json(user, call.platform.urls),
        "permissions": {
            "pull": role != "none",
            "triage": role in ("triage", "write", "maintain", "admin"),
            "push": level in ("write", "admin"),
            "maintain": role in ("maintain", "admin"),
            "admin": role == "admin",
        },
        "role_name": role,
    }
    return Answer({"permission": level, "role_name": role, "user": shown})
