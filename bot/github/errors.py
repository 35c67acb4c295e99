"""What can go wrong between us and GitHub, told apart by what to do about it."""

from __future__ import annotations


class GitHubError(Exception):
    """A request that failed for good; the message names the request and GitHub's answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class NotFoundError(GitHubError):
    """404: it does not exist, or this installation may not see it."""


class RefusedError(GitHubError):
    """403 or 422: GitHub understood and will not do it; asking again changes nothing."""


class TransientError(GitHubError):
    """A connection that broke, 5xx, or an installation that is suspended for now: worth another try.

    A write may have happened all the same, so it is looked up first.
    """


class RateLimitedError(GitHubError):
    """GitHub asks to wait for ``seconds``, longer than a request should be held."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message, 403)
        self.seconds = seconds


class UntrustedHostError(GitHubError):
    """An address outside GitHub: nothing is sent there, least of all a token."""
