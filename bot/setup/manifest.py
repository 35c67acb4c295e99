"""The App's manifest: what it asks of an owner, and of what it wants to hear. The same stands in ``app.yml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.github.app_auth import PERMISSIONS

NAME = "Preflight"
DESCRIPTION = (
    "Reads the PyTorch code of a pull request without running it. Says what will silently go wrong in training, offers the patch, "
    "and tells the GPU memory before and after."
)
#: What an installation grants; the last one lets GitHub tell of merge groups.
DEFAULT_PERMISSIONS: Mapping[str, str] = {**PERMISSIONS, "merge_queues": "read"}
EVENTS = ("pull_request", "issue_comment", "check_run", "check_suite", "push", "merge_group")


@dataclass(frozen=True, slots=True)
class Choices:
    """What whoever sets the App up decides.

    ``address`` is where GitHub reaches the server; an empty ``organization`` means the person's own account; ``commits`` and
    ``scanning`` grant more than the least: commits by ``/preflight fix``, and uploads to code scanning.
    """

    address: str
    organization: str = ""
    commits: bool = False
    scanning: bool = False


def permissions(choices: Choices) -> dict[str, str]:
    """What the App asks for."""
    commits = {"contents": "write"} if choices.commits else {}
    scanning = {"security_events": "write"} if choices.scanning else {}
    return {**DEFAULT_PERMISSIONS, **commits, **scanning}


def manifest(choices: Choices, redirect_url: str) -> dict[str, object]:
    """The manifest as GitHub takes it; it sends the browser back to ``redirect_url``."""
    return {
        "name": NAME,
        "url": choices.address,
        "description": DESCRIPTION,
        "public": False,
        "hook_attributes": {"url": f"{choices.address}/webhook", "active": True},
        "redirect_url": redirect_url,
        "default_permissions": permissions(choices),
        "default_events": list(EVENTS),
    }
