"""The archive host: gzipped tarballs for whoever has a signed, short-lived address."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from simulator.platform import Platform
    from simulator.repository import Repository

_LIFETIME = timedelta(minutes=5)


class Archives:
    """Signs addresses and serves what they stand for."""

    def __init__(self, platform: Platform) -> None:
        self.served = 0
        self.authorizations_seen: list[str] = []
        self._platform = platform
        self._key = secrets.token_bytes(32)

    def address(self, repository: Repository, sha: str) -> str:
        """Where the archive of a commit can be had without a token, for five minutes."""
        expires = int((self._platform.clock.now() + _LIFETIME).timestamp())
        path = f"{repository.full_name}/legacy.tar.gz/{sha}"
        return f"{self._platform.urls.archive}/{path}?expires={expires}&token={self._sign(path, expires)}"

    def application(self) -> web.Application:
        """The aiohttp application to serve."""
        application = web.Application()
        application.router.add_get("/{owner}/{name}/legacy.tar.gz/{sha}", self._serve)
        return application

    def _sign(self, path: str, expires: int) -> str:
        return hmac.new(self._key, f"{path} {expires}".encode(), hashlib.sha256).hexdigest()

    async def _serve(self, request: web.Request) -> web.Response:
        """The archive, its paths under one folder `owner-name-sha` as GitHub makes it."""
        if "Authorization" in request.headers:  # a token has no business here; a test can see that it leaked
            self.authorizations_seen.append(request.headers["Authorization"])
        expires, given = request.query.get("expires", ""), request.query.get("token", "")
        if not expires.isdecimal() or int(expires) < self._platform.clock.now().timestamp():
            raise web.HTTPNotFound
        owner, name, sha = (request.match_info[part] for part in ("owner", "name", "sha"))
        repository = self._platform.repository(f"{owner}/{name}")
        if repository is None or not hmac.compare_digest(given.encode(), self._sign(f"{owner}/{name}/legacy.tar.gz/{sha}", int(expires)).encode()):
            raise web.HTTPNotFound
        folder = f"{repository.owner.login}-{repository.name}-{sha[:7]}"
        content = repository.git.run("archive", "--format=tar.gz", f"--prefix={folder}/", sha)
        self.served += 1
        disposition = f"attachment; filename={folder}.tar.gz"
        return web.Response(body=content, content_type="application/x-gzip", headers={"Content-Disposition": disposition})
