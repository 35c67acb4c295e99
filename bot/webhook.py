"""``POST /webhook``: verified, understood, durably stored, and only then answered."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from dataclasses import dataclass

from aiohttp import web

from bot.events import handlers
from bot.events.payload import Ignored, MalformedPayloadError
from bot.intake import Intake
from bot.job import Job, Json
from bot.logs import about
from bot.metrics import Metrics
from bot.settings import ServerSettings
from bot.signature import is_genuine

#: GitHub does not deliver larger events.
MAX_BYTES = 25 << 20

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Webhook:
    """The route's handler and what it needs."""

    settings: ServerSettings
    intake: Intake
    metrics: Metrics

    async def receive(self, request: web.Request) -> web.Response:
        """202 stored or nothing to do; 400 malformed, 401 not GitHub's, 408 too slow, 413 too large, 503 could not be stored."""
        arrived = time.monotonic()
        answer = self._refused_unread(request)
        if answer is None:
            try:
                async with asyncio.timeout(self.settings.pace.body_timeout):
                    body = await request.read()  # one that is longer than it said ends at the application's limit
            except TimeoutError:
                return self._answer("", "refused", web.HTTPRequestTimeout.status_code, "the body did not come in time")
            answer = await self._answered(request, body)
        self.metrics.answer_seconds.observe(time.monotonic() - arrived)
        return answer

    def _refused_unread(self, request: web.Request) -> web.Response | None:
        """What can be told from the headers: nobody makes the server hold a body that is not signed, or too large."""
        if (request.content_length or 0) > MAX_BYTES:
            return self._answer("", "refused", web.HTTPRequestEntityTooLarge.status_code, f"GitHub delivers no more than {MAX_BYTES >> 20} MB")
        if len(request.headers.getall("X-Hub-Signature-256", [])) != 1:
            return self._answer("", "refused", web.HTTPUnauthorized.status_code, "one X-Hub-Signature-256 is needed")
        return None

    async def _answered(self, request: web.Request, body: bytes) -> web.Response:
        if not self._is_genuine(request, body):
            return self._answer("", "refused", web.HTTPUnauthorized.status_code, "X-Hub-Signature-256 does not match")
        event = request.headers.get("X-GitHub-Event", "")
        try:
            delivery = _delivery(request)
            payload = _payload(body)
            self._require_own(request)
            handler = handlers().get(event)
            job = Ignored(f"no job is made of {event or 'a delivery without event'}") if handler is None else handler(delivery, payload)
        except MalformedPayloadError as error:
            return self._answer(event, "malformed", web.HTTPBadRequest.status_code, str(error))
        if isinstance(job, Ignored):
            return self._answer(event, "ignored", web.HTTPAccepted.status_code, job.reason)
        return await self._stored(event, job)

    async def _stored(self, event: str, job: Job) -> web.Response:
        with about(job.facts, delivery=job.delivery, job=job.kind):
            try:
                await self.intake.accept(job)
            except Exception:
                log.exception("the delivery could not be stored")
                return self._answer(event, "not stored", web.HTTPServiceUnavailable.status_code, "the job could not be stored; deliver again")
            return self._answer(event, "stored", web.HTTPAccepted.status_code, "stored")

    def _is_genuine(self, request: web.Request, body: bytes) -> bool:
        return is_genuine(body, request.headers["X-Hub-Signature-256"], self.settings.webhook_secrets)

    def _require_own(self, request: web.Request) -> None:
        """A delivery for another App that happens to share the secret is none of ours."""
        headers = request.headers
        target = headers.get("X-GitHub-Hook-Installation-Target-ID", "")
        if headers.get("X-GitHub-Hook-Installation-Target-Type") == "integration" and target != str(self.settings.app_id):
            raise MalformedPayloadError(f"the delivery is for another App: {target[:20]}")

    def _answer(self, event: str, outcome: str, status: int, message: str) -> web.Response:
        self.metrics.deliveries.add(event=event if event in handlers() else "other", outcome=outcome)
        return web.json_response({"message": message}, status=status)


def _delivery(request: web.Request) -> str:
    """GitHub's GUID, in one spelling."""
    try:
        return str(uuid.UUID(request.headers.get("X-GitHub-Delivery", "")))
    except ValueError as error:
        raise MalformedPayloadError("X-GitHub-Delivery is not a GUID") from error


def _payload(body: bytes) -> Json:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedPayloadError(f"the body is not JSON: {type(error).__name__}") from error
    if not isinstance(payload, dict):
        raise MalformedPayloadError("the body is not a JSON object")
    return payload
