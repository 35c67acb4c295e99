"""Registering an App from a manifest: the form that a setup page posts, and the code that its secrets are fetched with."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from aiohttp import web

from simulator.representation.accounts import app_json

if TYPE_CHECKING:
    from simulator.http.service import Service

_KNOWN = frozenset(
    {
        "name",
        "url",
        "hook_attributes",
        "redirect_url",
        "callback_urls",
        "setup_url",
        "description",
        "public",
        "default_events",
        "default_permissions",
        "request_oauth_on_install",
        "setup_on_update",
    }
)


def accept_manifest(service: Service, private_key: str, manifest_text: str, state: str | None) -> str:
    """The address to send the browser back to, with the code of a new App in it.

    Raises:
        HTTPUnprocessableEntity: the manifest is no JSON object, has unknown keys, or lacks `url` or `redirect_url`.

    """
    try:
        manifest = json.loads(manifest_text)
    except ValueError as problem:
        raise web.HTTPUnprocessableEntity(text="The manifest is not JSON.") from problem
    if not isinstance(manifest, dict):
        raise web.HTTPUnprocessableEntity(text="The manifest is not a JSON object.")
    unknown = sorted(set(manifest) - _KNOWN)
    missing = [name for name in ("url", "redirect_url") if not manifest.get(name)]
    if unknown or missing:
        raise web.HTTPUnprocessableEntity(text=f"The manifest has unknown keys {unknown} and lacks {missing}.")
    platform = service.platform
    code = secrets.token_hex(20)
    service.manifest_codes[code] = {
        **app_json(platform.app, platform.urls),
        "permissions": manifest.get("default_permissions", {}),
        "events": manifest.get("default_events", []),
        "name": manifest.get("name", platform.app.name),
        "client_secret": secrets.token_hex(20),
        "webhook_secret": platform.outbox.secret,
        "pem": private_key,
    }
    query = {"code": code} if state is None else {"code": code, "state": state}
    return f"{manifest['redirect_url']}?{urlencode(query)}"
