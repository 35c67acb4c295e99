"""SARIF uploads for code scanning."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import uuid
from typing import cast

from simulator.checkruns import SarifUpload
from simulator.clock import iso
from simulator.errors import ApiError, not_found
from simulator.http.exchange import Answer, Call, paged
from simulator.representation.accounts import Json
from simulator.representation.repositories import api_url
from simulator.rest.registry import answers

MAX_COMPRESSED_BYTES = 10_000_000
MAX_RUNS = 20


@answers("code-scanning/upload-sarif")
def upload(call: Call) -> Answer:
    """Take a SARIF file: gzipped, then in base64, at most 10 MB; its commit must be known."""
    sha = str(call.body["commit_sha"])
    if call.repository.git.resolve(sha) != sha:
        raise ApiError(404, "commit not found")
    made = SarifUpload(str(uuid.uuid4()), sha, str(call.body["ref"]), _document(call), call.platform.clock.now())
    call.repository.sarif_uploads[made.id] = made
    return Answer({"id": made.id, "url": f"{api_url(call.repository)}/code-scanning/sarifs/{made.id}"}, 202)


@answers("code-scanning/get-sarif")
def get_upload(call: Call) -> Answer:
    """How far the processing is: here it is always complete."""
    if call.text("sarif_id") not in call.repository.sarif_uploads:
        raise not_found()
    url = f"{api_url(call.repository)}/code-scanning/analyses?sarif_id={call.text('sarif_id')}"
    return Answer({"processing_status": "complete", "analyses_url": url})


@answers("code-scanning/list-recent-analyses")
def list_analyses(call: Call) -> Answer:
    """One analysis for every run of every upload, the newest first."""
    wanted, reference = call.query.get("sarif_id"), call.query.get("ref")
    uploads = [one for one in reversed(call.repository.sarif_uploads.values()) if wanted in (None, one.id) and reference in (None, one.ref)]
    return paged(call, [_analysis(call, one, run) for one in uploads for run in _runs(one)])


def _document(call: Call) -> dict[str, object]:
    try:
        compressed = base64.b64decode(str(call.body["sarif"]), validate=True)
    except binascii.Error as problem:
        raise ApiError(400, "Invalid SARIF: the file is not Base64") from problem
    if len(compressed) > MAX_COMPRESSED_BYTES:
        raise ApiError(413, "SARIF file is too large")
    try:
        document = json.loads(gzip.decompress(compressed))
    except (OSError, EOFError, ValueError) as problem:
        raise ApiError(400, "Invalid SARIF: the file is not gzipped JSON") from problem
    runs = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(runs, list) or len(runs) > MAX_RUNS or document.get("version") != "2.1.0":
        raise ApiError(400, f"Invalid SARIF: version 2.1.0 with at most {MAX_RUNS} runs is expected")
    return cast("dict[str, object]", document)


def _runs(upload: SarifUpload) -> list[Json]:
    return cast("list[Json]", upload.document["runs"])


def _analysis(call: Call, upload: SarifUpload, run: Json) -> Json:
    driver = cast("dict[str, Json]", run["tool"])["driver"]
    number = call.platform.ids.next()
    return {
        "ref": upload.ref,
        "commit_sha": upload.commit_sha,
        "analysis_key": "(default)",
        "environment": "{}",
        "error": "",
        "created_at": iso(upload.created_at),
        "results_count": len(cast("list[object]", run.get("results", []))),
        "rules_count": len(cast("list[object]", driver.get("rules", []))),
        "id": number,
        "url": f"{api_url(call.repository)}/code-scanning/analyses/{number}",
        "sarif_id": upload.id,
        "tool": {"name": driver["name"], "guid": None, "version": driver.get("version")},
        "deletable": True,
        "warning": "",
    }
