"""Cut GitHub's description of its webhook payloads down to the events that the simulator sends.

npm pack @octokit/openapi-webhooks@12.1.0 && tar xf octokit-openapi-webhooks-12.1.0.tgz
python prune.py package/generated/api.github.com.json > payloads.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

EVENTS = {
    "check-run": ("completed", "created", "requested-action", "rerequested"),
    "check-suite": ("requested", "rerequested"),
    "installation": ("created", "deleted", "suspend"),
    "installation-repositories": ("added",),
    "issue-comment": ("created", "deleted", "edited"),
    "merge-group": ("checks-requested", "destroyed"),
    "pull-request": (
        "closed",
        "converted-to-draft",
        "edited",
        "labeled",
        "opened",
        "ready-for-review",
        "reopened",
        "synchronize",
        "unlabeled",
    ),
}
SAID_ONLY = ("description", "title", "examples", "example", "externalDocs", "summary", "tags", "x-github", "x-github-breaking-changes", "deprecated", "default")


def main() -> None:
    """Print the payload schemas of the events, with the shared schemas that they lead to."""
    document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    names = [f"{event}-{action}" for event, actions in EVENTS.items() for action in actions] + ["push"]
    payloads = {name: document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"] for name in names}
    shared: dict[str, Any] = {}
    waiting = [payloads]
    while waiting:
        for name in referenced(waiting.pop()):
            if name not in shared:
                shared[name] = document["components"]["schemas"][name]
                waiting.append(shared[name])
    sys.stdout.write(json.dumps(silent({"payloads": payloads, "components": {"schemas": shared}}), separators=(",", ":"), sort_keys=True))


def referenced(part: Any) -> set[str]:
    """The names of the shared schemas that a part of the document mentions."""
    if isinstance(part, list):
        return set().union(*(referenced(one) for one in part))
    if not isinstance(part, dict):
        return set()
    own = {part["$ref"].rpartition("/")[2]} if isinstance(part.get("$ref"), str) else set()
    return own.union(*(referenced(one) for one in part.values()))


def silent(part: Any, *, names: bool = False) -> Any:
    """The part without what only explains; `names`: the keys are names of properties or schemas and all stay."""
    if isinstance(part, list):
        return [silent(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: silent(value, names=key in ("properties", "schemas", "payloads") and not names) for key, value in part.items() if names or key not in SAID_ONLY
    }


if __name__ == "__main__":
    main()
