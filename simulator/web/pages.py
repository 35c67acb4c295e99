"""The web host: which address shows which page, and what the buttons on the pages do."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web

from simulator import checking
from simulator.suggestions import SuggestionRefusedError
from simulator.web.checks_page import checks_page
from simulator.web.conversation_page import conversation_page
from simulator.web.files_page import blob_page, files_page
from simulator.web.frame import pull_path, repository_bar
from simulator.web.lists import repository_page, start_page
from simulator.web.manifest import accept_manifest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from simulator.checkruns import CheckRun
    from simulator.http.service import Service
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository
    from simulator.web.markup import Html

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# Whatever a comment smuggles onto a page, nothing runs and nothing is loaded from elsewhere. With `no-referrer` browsers would
# send `Origin: null` with the pages' own forms.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
NEW_APP = "/settings/apps/new"
_PULL = r"/{owner}/{name}/pull/{number:\d+}"


class Pages:
    """The request handlers of the web host."""

    def __init__(self, service: Service, private_key: str) -> None:
        self._service = service
        self._platform = service.platform
        self._private_key = private_key

    def application(self) -> web.Application:
        """The aiohttp application to serve."""
        application = web.Application(middlewares=[_same_origin])
        add = application.router.add_route
        add("GET", "/", self._start)
        add("GET", "/style.css", _style)
        add("GET", "/{owner}/{name}", self._repository_page)
        add("GET", r"/{owner}/{name}/blob/{sha:[0-9a-f]+}/{path:.+}", self._blob)
        add("GET", _PULL, self._conversation)
        add("GET", f"{_PULL}/checks", self._checks)
        add("GET", f"{_PULL}/files", self._files)
        add("POST", f"{_PULL}/comments", self._write)
        add("POST", _PULL + r"/suggestions/{comment:\d+}", self._apply)
        add("POST", _PULL + r"/runs/{run:\d+}/rerequest", self._rerequest)
        add("POST", _PULL + r"/runs/{run:\d+}/action", self._action)
        add("POST", NEW_APP, self._new_app)
        add("POST", "/organizations/{owner}/settings/apps/new", self._new_app)
        return application

    async def _new_app(self, request: web.Request) -> web.Response:
        """A setup page sends the browser here with a manifest."""
        manifest = str((await request.post()).get("manifest", ""))
        return _back_to(accept_manifest(self._service, self._private_key, manifest, request.query.get("state")))

    async def _start(self, _request: web.Request) -> web.Response:
        return _shown(start_page(self._platform))

    async def _repository_page(self, request: web.Request) -> web.Response:
        return _shown(repository_page(self._repository(request)))

    async def _conversation(self, request: web.Request) -> web.Response:
        return _shown(conversation_page(self._pull(request)))

    async def _checks(self, request: web.Request) -> web.Response:
        return _shown(checks_page(self._pull(request)))

    async def _files(self, request: web.Request) -> web.Response:
        return _shown(files_page(self._pull(request)))

    async def _blob(self, request: web.Request) -> web.Response:
        repository, path = self._repository(request), request.match_info["path"]
        sha = repository.git.resolve(request.match_info["sha"])
        found = None if sha is None else repository.git.read(sha, path)
        if found is None:
            raise web.HTTPNotFound
        return _shown(blob_page(path, path, found.content.decode(errors="replace"), repository_bar(repository)))

    async def _write(self, request: web.Request) -> web.Response:
        """Comment as the pull request's author."""
        pull = self._pull(request)
        body = str((await request.post()).get("body", "")).replace("\r\n", "\n").strip()
        if body:
            pull.comment(pull.author.login, body)
        return _back_to(pull_path(pull))

    async def _apply(self, request: web.Request) -> web.Response:
        pull = self._pull(request)
        try:
            pull.apply_suggestion(int(request.match_info["comment"]))
        except (KeyError, SuggestionRefusedError) as refusal:
            raise web.HTTPUnprocessableEntity(text=str(refusal)) from refusal
        return _back_to(pull_path(pull))

    async def _rerequest(self, request: web.Request) -> web.Response:
        pull = self._pull(request)
        checking.rerequest(pull.repository, _run(pull, request), pull.author)
        return _back_to(f"{pull_path(pull)}/checks")

    async def _action(self, request: web.Request) -> web.Response:
        pull = self._pull(request)
        identifier = str((await request.post()).get("identifier", ""))
        try:
            checking.request_action(pull.repository, _run(pull, request), identifier, pull.author)
        except LookupError as refusal:
            raise web.HTTPUnprocessableEntity(text=str(refusal)) from refusal
        return _back_to(f"{pull_path(pull)}/checks")

    def _repository(self, request: web.Request) -> Repository:
        found = self._platform.repository(f"{request.match_info['owner']}/{request.match_info['name']}")
        if found is None:
            raise web.HTTPNotFound
        return found

    def _pull(self, request: web.Request) -> PullRequest:
        found = self._repository(request).pulls.get(int(request.match_info["number"]))
        if found is None:
            raise web.HTTPNotFound
        return found


@web.middleware
async def _same_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Take forms only from these pages: another site in the same browser must not press their buttons."""
    origin = request.headers.get("Origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.host
    if request.method == "POST" and foreign and not request.path.endswith(NEW_APP):
        raise web.HTTPForbidden
    return await handler(request)


async def _style(_request: web.Request) -> web.Response:
    text = resources.files("simulator.web").joinpath("style.css").read_text(encoding="utf-8")
    return web.Response(text=text, content_type="text/css")


def _shown(page: Html) -> web.Response:
    return web.Response(text=page, content_type="text/html", headers=_HEADERS)


def _back_to(address: str) -> web.Response:
    return web.Response(status=303, headers={"Location": address})


def _run(pull: PullRequest, request: web.Request) -> CheckRun:
    found = pull.repository.runs.get(int(request.match_info["run"]))
    if found is None:
        raise web.HTTPNotFound
    return found
