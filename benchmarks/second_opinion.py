"""A strict second opinion: every request that the bot sends in its tests, against GitHub's own OpenAPI and GraphQL schema.

    python -m benchmarks second_opinion

The REST requests go to Prism, the GraphQL documents to graphql-core; neither knows the simulator, whose opinion the tests already
hold. Node and npm are needed, and npm's registry: what comes from there lies in a temporary folder, or in the one that ``--folder`` names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.opinion import documents, prism
from simulator.openapi.document import operations

_PACKAGES = ("@octokit/graphql-schema@15.26.1", "@octokit/openapi@23.0.2", "@stoplight/prism-cli@5")
_TESTS = ("tests/bot/server", "tests/bot/github")
_ROOT = Path(__file__).parents[1]


async def main(words: argparse.Namespace) -> int:
    """Record, judge, print."""
    folder = Path(words.folder or tempfile.mkdtemp(prefix="preflight-opinion-"))
    modules = folder / "node_modules"
    if not (modules / ".bin" / "prism").exists():
        subprocess.run(["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, *_PACKAGES], check=True)  # noqa: ASYNC221
    recorded = folder / "requests.jsonl"
    if not words.recorded:
        recorded.write_text("")
        _record(recorded, words.tests)
    asked = {each.shape: each for each in (prism.Asked(**json.loads(line)) for line in recorded.read_text().splitlines())}
    queries = [each.body for each in asked.values() if each.path.endswith("/graphql")]
    requests = [each for each in asked.values() if not each.path.endswith("/graphql") and not each.path.startswith("/_")]
    document = folder / "openapi.json"
    prism.pruned(modules / "@octokit/openapi/generated/api.github.com.json", {each.template for each in operations()}, document)
    refused = [*documents.judged(queries, modules / "@octokit/graphql-schema/schema.graphql"), *await prism.judged(requests, modules / ".bin", document)]
    for sentence in dict.fromkeys(refused):
        print(sentence)
    print(f"{len(requests)} kinds of REST requests, {len(queries)} of GraphQL: {len(set(refused))} refused")
    return 1 if refused or not requests or not queries else 0


def _record(recorded: Path, tests: list[str]) -> None:
    environment = os.environ | {"PREFLIGHT_REQUESTS": str(recorded)}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "benchmarks.opinion.recorder", *tests]
    subprocess.run(command, cwd=_ROOT, env=environment, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks second_opinion", description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", default="", help="where npm's packages and the recorded requests lie")
    parser.add_argument("--recorded", action="store_true", help="judge the requests that a former run has recorded there")
    parser.add_argument("--tests", nargs="*", default=list(_TESTS), help="which tests are run to record them")
    sys.exit(asyncio.run(main(parser.parse_args())))
