"""The process that holds LibCST: limits itself, reads jobs from standard input, answers on standard output, ends."""

from __future__ import annotations

import sys

from analysis.fixes.change import ChangeRefusedError
from analysis.fixes.wire import Job, Refused, Rewritten, pack_answers, unpack_jobs

MAX_MEMORY_BYTES = 1 << 30
MAX_CPU_SECONDS = 30


def main() -> None:
    """Answer one batch."""
    _limit()
    jobs = unpack_jobs(sys.stdin.buffer.read())
    sys.stdout.buffer.write(pack_answers([_answer(job) for job in jobs]))


def _answer(job: Job) -> Rewritten | Refused:
    from analysis.fixes.cst import rewritten  # noqa: PLC0415  # after the limits, which hold for loading it too

    try:
        return Rewritten(rewritten(job.text, job.newline, job.indent, job.change))
    except ChangeRefusedError as refusal:
        return Refused(str(refusal))
    except Exception as error:  # noqa: BLE001  # LibCST has many ways to fail on code it does not know; each means: no fix here
        return Refused(f"LibCST failed on these lines: {type(error).__name__}")


def _limit() -> None:
    """Memory and processor time, where the system can limit them."""
    try:
        import resource  # noqa: PLC0415  # not on Windows
    except ImportError:
        return
    for kind, value in ((resource.RLIMIT_AS, MAX_MEMORY_BYTES), (resource.RLIMIT_CPU, MAX_CPU_SECONDS), (resource.RLIMIT_CORE, 0)):
        _, ceiling = resource.getrlimit(kind)
        allowed = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        resource.setrlimit(kind, (allowed, allowed))


if __name__ == "__main__":
    main()
