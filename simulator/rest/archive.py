"""Source archives: the API only redirects to another host, with a signature in the address instead of a token."""

from __future__ import annotations

from simulator.errors import not_found
from simulator.http.exchange import Answer, Call
from simulator.rest.registry import answers


@answers("repos/download-tarball-archive")
def download_tarball(call: Call) -> Answer:
    """Redirect to the archive host; the address is good for five minutes."""
    reference = call.text("ref")
    sha = call.repository.git.resolve(reference)
    if sha is None:
        raise not_found()
    return Answer(status=302, headers={"Location": call.service.archives.address(call.repository, sha)})
