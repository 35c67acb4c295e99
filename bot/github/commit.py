"""One commit on a branch, signed by GitHub, made only if the branch still is where we read it."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from bot.github.client import Client

_COMMIT = "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }"


async def commit_files(client: Client, branch: str, expected: str, headline: str, body: str, files: Mapping[str, bytes]) -> str:
    """Write ``files`` to ``branch``, whose head must be ``expected``; gives the new commit. ``client`` needs ``contents: write``.

    Raises RefusedError where the branch has moved, is gone or is protected.
    """
    additions = [{"path": path, "contents": base64.b64encode(content).decode()} for path, content in sorted(files.items())]
    made = await client.mutate(
        _COMMIT,
        {
            "input": {
                "branch": {"repositoryNameWithOwner": client.full_name, "branchName": branch},
                "message": {"headline": headline, "body": body},
                "expectedHeadOid": expected,
                "fileChanges": {"additions": additions},
            }
        },
    )
    oid: str = made["createCommitOnBranch"]["commit"]["oid"]
    return oid
