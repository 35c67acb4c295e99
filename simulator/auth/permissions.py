"""Which permission each operation asks for.

Source: the tables of docs.github.com/rest/authentication/permissions-required-for-github-apps. Comments on a pull request
are granted by either of two permissions.
"""

from __future__ import annotations

from simulator.accounts import Level

Grant = tuple[str, Level]

APP_ONLY = frozenset(
    {
        "apps/get-authenticated",
        "apps/list-webhook-deliveries",
        "apps/get-webhook-delivery",
        "apps/redeliver-webhook-delivery",
        "apps/list-installations",
        "apps/get-installation",
        "apps/create-installation-access-token",
        "apps/get-repo-installation",
    }
)
PUBLIC = frozenset({"meta/root", "meta/get", "apps/create-from-manifest", "rate-limit/get"})

_ISSUES_OR_PULLS_READ: tuple[Grant, ...] = (("issues", "read"), ("pull_requests", "read"))
_ISSUES_OR_PULLS_WRITE: tuple[Grant, ...] = (("issues", "write"), ("pull_requests", "write"))

_GRANTS: dict[tuple[Grant, ...], tuple[str, ...]] = {
    (("metadata", "read"),): ("repos/get", "repos/get-collaborator-permission-level"),
    (("contents", "read"),): (
        "repos/get-branch",
        "repos/get-commit",
        "repos/compare-commits-with-basehead",
        "repos/get-content",
        "repos/download-tarball-archive",
        "git/get-blob",
        "git/get-commit",
        "git/get-ref",
        "git/get-tree",
    ),
    (("contents", "write"),): (
        "git/create-blob",
        "git/create-commit",
        "git/create-ref",
        "git/update-ref",
        "git/delete-ref",
        "git/create-tree",
    ),
    (("checks", "read"),): (
        "checks/get",
        "checks/list-annotations",
        "checks/list-for-suite",
        "checks/list-for-ref",
        "checks/list-suites-for-ref",
    ),
    (("checks", "write"),): (
        "checks/create",
        "checks/update",
        "checks/rerequest-run",
        "checks/create-suite",
        "checks/rerequest-suite",
    ),
    (("pull_requests", "read"),): (
        "pulls/list",
        "pulls/get",
        "pulls/list-review-comments",
        "pulls/list-files",
        "pulls/list-reviews",
    ),
    (("pull_requests", "write"),): (
        "pulls/create",
        "pulls/update-review-comment",
        "pulls/delete-review-comment",
        "reactions/create-for-pull-request-review-comment",
        "pulls/create-review-comment",
        "pulls/create-reply-for-review-comment",
        "pulls/create-review",
        "pulls/update-review",
        "pulls/dismiss-review",
        "pulls/submit-review",
    ),
    _ISSUES_OR_PULLS_READ: ("issues/get-comment", "issues/list-comments"),
    _ISSUES_OR_PULLS_WRITE: (
        "issues/update-comment",
        "issues/delete-comment",
        "issues/create-comment",
        "reactions/create-for-issue-comment",
        "reactions/delete-for-issue-comment",
    ),
    (("security_events", "read"),): ("code-scanning/list-recent-analyses", "code-scanning/get-sarif"),
    (("security_events", "write"),): ("code-scanning/upload-sarif",),
    (("statuses", "write"),): ("repos/create-commit-status",),
    (): ("apps/list-repos-accessible-to-installation", "apps/revoke-installation-access-token"),
}
_BY_OPERATION = {operation: grants for grants, operations in _GRANTS.items() for operation in operations}


def required_grants(operation_id: str) -> tuple[Grant, ...]:
    """The permissions of which an installation token needs one; none when any token will do."""
    return _BY_OPERATION[operation_id]
