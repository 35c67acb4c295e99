"""The error answers of the API."""

from __future__ import annotations

from collections.abc import Mapping

Documentation = "https://docs.github.com/rest"


class ApiError(Exception):
    """An answer other than success. `errors` is GitHub's list of details, texts or objects."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})

    def body(self) -> dict[str, object]:
        """The JSON that GitHub would send."""
        shown: dict[str, object] = {"message": self.message, "documentation_url": Documentation, "status": str(self.status)}
        if self.errors is not None:
            shown["errors"] = self.errors
        return shown


def not_found() -> ApiError:
    """What is not there, or may not be seen."""
    return ApiError(404, "Not Found")


def invalid(problem: str) -> ApiError:
    """A request that does not keep to the description."""
    return ApiError(422, f"Invalid request.\n\n{problem}")


def unprocessable(*errors: str) -> ApiError:
    """A well-formed request that cannot be carried out."""
    return ApiError(422, "Unprocessable Entity", list(errors))
