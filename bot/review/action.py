"""The buttons under a completed check run."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bot.review import limits

_LABEL_CHARACTERS = 20
_DESCRIPTION_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Action:
    """One button; ``identifier`` is what GitHub tells us when somebody presses it."""

    label: str
    description: str
    identifier: str

    def __post_init__(self) -> None:
        limits.require(self.label, _LABEL_CHARACTERS, "the label of a button")
        limits.require(self.description, _DESCRIPTION_CHARACTERS, "the description of a button")
        limits.require(self.identifier, _LABEL_CHARACTERS, "the identifier of a button")

    def to_json(self) -> dict[str, str]:
        """The object of the request."""
        return asdict(self)


APPLY_FIXES = Action("Apply safe fixes", "One commit with the safe patches", "fix")
#: Named apart from GitHub's own "Re-run", beside which it stands.
RERUN = Action("Re-run Preflight", "Read this pull request again", "rerun")
