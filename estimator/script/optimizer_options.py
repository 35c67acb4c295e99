"""The variant of an optimizer that the caller asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain


def options_of_optimizer(domain: TapeDomain, defaults: dict[str, Any]) -> None:
    """Set the variant of an optimizer that is asked for."""
    wanted = domain.request.overrides.get("optimizer")
    if isinstance(wanted, str) and wanted.endswith("-fused"):
        defaults["fused"] = True
    elif isinstance(wanted, str) and "fused" in defaults:
        defaults["fused"] = None
    if wanted == "sgd-momentum" and not defaults.get("momentum"):
        defaults["momentum"] = 0.9
