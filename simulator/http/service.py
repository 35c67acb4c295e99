"""Carry out one API request: find the operation, know the caller, check everything, do it, check the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simulator.auth.jwt import check_app_jwt
from simulator.auth.permissions import APP_ONLY, PUBLIC, required_grants
from simulator.auth.tokens import InstallationToken, TokenTable
from simulator.errors import ApiError, invalid, not_found
from simulator.graphql.execute import GraphQL
from simulator.http.archives import Archives
from simulator.http.exchange import Answer, Call
from simulator.http.limits import RateLimits
from simulator.http.moved import moved, present_path
from simulator.http.records import Records, Violation
from simulator.http.versions import VERSIONS, for_version
from simulator.openapi.document import match
from simulator.openapi.rules import rule_problem
from simulator.openapi.schemas import answer_problem, body_problem
from simulator.openapi.values import Value, path_problem, query_problem, typed
from simulator.rest.registry import handler

if TYPE_CHECKING:
    from simulator.openapi.document import Operation
    from simulator.platform import Platform
    from simulator.repository import Repository

OK = 200
NOT_MODIFIED = 304
UNPROCESSABLE = 422
BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request as it came: `path` is still percent-encoded, without the query."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


class Service:
    """The API, apart from sockets."""

    def __init__(self, platform: Platform, public_key: str, archives: Archives) -> None:
        self.platform = platform
        self.public_key = public_key
        self.tokens = TokenTable(platform)
        self.rates = RateLimits(platform)
        self.records = Records()
        self.archives = archives
        self.manifest_codes: dict[str, dict[str, object]] = {}
        self._graphql = GraphQL(platform)

    def operation_id(self, method: str, path: str) -> str | None:
        """What a request is for: an operation id, `graphql`, or None."""
        if path == "/graphql":
            return "graphql"
        found = match(method, path)
        return None if found is None else found[0].id

    def carry_out(self, request: ApiRequest, *, stale: bool = False) -> Answer:
        """Do what a request asks for; every refusal becomes an answer too, and a broken rule a violation."""
        request = replace(request, path=present_path(self.platform, request.path))
        caller, resource = "anonymous", "graphql" if request.path == "/graphql" else "core"
        try:
            _check_headers(request.headers)
            token = self._caller(request)
            caller = "app" if token is None else str(token.installation_id)
            self.rates.spend(caller, resource)
            answer = self._graphql_answer(request, token) if resource == "graphql" else self._rest(request, token, stale=stale)
        except ApiError as refusal:
            answer = Answer(refusal.body(), refusal.status, refusal.headers)
            if refusal.status in (UNPROCESSABLE, BAD_REQUEST):
                self._violation(request, f"{refusal.message} {refusal.errors or ''}".strip())
        if request.method == "GET" and answer.status == OK:
            answer = replace(answer, headers={**answer.headers, "ETag": answer.etag})
            if request.headers.get("If-None-Match") == answer.etag:
                self.rates.give_back(caller, resource)
                answer = replace(answer, body=None, status=NOT_MODIFIED)
        return replace(answer, headers={**self.rates.headers(caller, resource), **answer.headers})

    def reaches(self, token: InstallationToken | None, repository: Repository) -> bool:
        """Whether a token may see a repository; the App itself sees those it is installed on."""
        installation = self.platform.installation_of(repository)
        if token is None:
            return installation is not None
        if installation is None or installation.id != token.installation_id:
            return False
        return token.repositories is None or repository.id in token.repositories

    def _rest(self, request: ApiRequest, token: InstallationToken | None, *, stale: bool) -> Answer:
        found = match(request.method, request.path)
        if (elsewhere := moved(self.platform, request.method, request.path)) is not None:
            return elsewhere
        if found is None:
            self._violation(request, "GitHub has no such operation among those an App of this kind may use")
            raise not_found()
        operation, texts = found
        _check_permission(operation, token)
        schemas = {parameter.name: parameter.schema for parameter in operation.parameters}
        parameters: dict[str, Value] = {name: typed(text, schemas.get(name, {})) for name, text in texts.items()}
        query: dict[str, Value] = {name: typed(text, schemas.get(name, {})) for name, text in request.query.items()}
        if problem := path_problem(operation, parameters) or query_problem(operation, query):
            raise invalid(problem)
        body = _body(operation, request.body)
        call = Call(self, operation.id, request.path, parameters, query, body, request.headers, token, stale)
        if "owner" in parameters:
            _ = call.repository  # what the token does not reach is not found, whatever else is wrong
        if problem := body_problem(operation, body) if body or operation.body_required else None:
            raise invalid(problem)
        if problem := rule_problem(operation.id, body):
            raise invalid(problem)
        answer = handler(operation.id)(call)
        if problem := None if isinstance(answer.body, bytes) else answer_problem(operation, answer.status, answer.body):
            self._violation(request, f"the simulator's own answer is not GitHub's: {problem}")
            raise AssertionError(f"the answer to {operation.id} is not GitHub's: {problem}")
        return for_version(answer, operation.id, request.headers.get("X-GitHub-Api-Version"))

    def _graphql_answer(self, request: ApiRequest, token: InstallationToken | None) -> Answer:
        if token is None:
            raise ApiError(401, "This endpoint requires you to be authenticated.")
        if request.method != "POST":
            raise not_found()
        body, problems = self._graphql.execute(_json(request.body), token, self)
        for problem in problems:
            self._violation(request, problem)
        return Answer(body)

    def _caller(self, request: ApiRequest) -> InstallationToken | None:
        """The token of the request; None when the App itself asks, or anybody for what is public."""
        found = match(request.method, request.path)
        operation_id = None if found is None else found[0].id
        scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
        if not credentials or scheme.lower() not in ("bearer", "token"):
            if operation_id in PUBLIC:
                return None
            raise ApiError(401, "Requires authentication")
        if operation_id in APP_ONLY or (credentials.count(".") == 2 and not credentials.startswith("ghs_")):  # noqa: PLR2004
            check_app_jwt(credentials, self.public_key, self.platform.app.id, self.platform.clock.now())
            if operation_id in APP_ONLY or operation_id in PUBLIC:
                return None
            raise ApiError(401, "Requires authentication")
        return self.tokens.find(credentials)

    def _violation(self, request: ApiRequest, problem: str) -> None:
        operation = self.operation_id(request.method, request.path)
        self.records.violations.append(Violation(operation, request.method, request.path, problem))


def _check_headers(headers: Mapping[str, str]) -> None:
    if not headers.get("User-Agent"):
        raise ApiError(403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header")
    version = headers.get("X-GitHub-Api-Version")
    if version is not None and version not in VERSIONS:
        raise ApiError(400, f"API version {version} is not supported; supported are {', '.join(VERSIONS)}")


def _check_permission(operation: Operation, token: InstallationToken | None) -> None:
    if operation.id in PUBLIC or operation.id in APP_ONLY:
        return
    grants = required_grants(operation.id)
    if token is None or (grants and not any(token.allows(name, level) for name, level in grants)):
        raise ApiError(403, "Resource not accessible by integration")


def _body(operation: Operation, raw: bytes) -> dict[str, object]:
    if operation.body is None:
        if raw.strip() not in (b"", b"{}"):
            raise invalid(f"{operation.id} takes no body")
        return {}
    if not raw.strip():
        if operation.body_required:
            raise invalid("the body is missing")
        return {}
    return _json(raw)


def _json(raw: bytes) -> dict[str, object]:
    try:
        body = json.loads(raw)
    except ValueError as problem:
        raise ApiError(400, "Problems parsing JSON") from problem
    if not isinstance(body, dict):
        raise ApiError(400, "Body should be a JSON object")
    return body
