"""Addresses of renamed repositories: GitHub answers at the old name with the repository's address by id, and serves that too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulator.http.exchange import Answer

if TYPE_CHECKING:
    from simulator.platform import Platform

_BY_NAME = re.compile(r"/repos/([^/]+/[^/]+)(/.*|)")
_BY_ID = re.compile(r"/repositories/(\d+)(/.*|)")


def present_path(platform: Platform, path: str) -> str:
    """The path by the repository's present name, where it names the repository by id."""
    matched = _BY_ID.fullmatch(path)
    found = platform.repositories.get(int(matched[1])) if matched else None
    return path if matched is None or found is None else f"/repos/{found.full_name}{matched[2]}"


def moved(platform: Platform, method: str, path: str) -> Answer | None:
    """The redirection from a former name; None where the name is a present one, or never was one."""
    matched = _BY_NAME.fullmatch(path)
    if matched is None or platform.repository(matched[1]) is not None:
        return None
    found = platform.former_names.get(matched[1].lower())
    if found is None:
        return None
    location = f"{platform.urls.api}/repositories/{found}{matched[2]}"
    body = {"message": "Moved Permanently", "url": location, "documentation_url": "https://docs.github.com/rest/guides/best-practices"}
    return Answer(body, 301 if method == "GET" else 307, {"Location": location})
