"""Operands that do not fit each other: PyTorch would stop there, so something before was misread, and no number may come of it."""

from __future__ import annotations

from estimator.tape.not_followed import NotFollowed
from estimator.tape.tensor import Tensor


def must_agree(holds: bool, operation: str, *operands: Tensor | None) -> None:  # noqa: FBT001  a condition, like an assertion's
    """Raises ``NotFollowed`` with the operands' shapes unless the condition holds."""
    if not holds:
        shapes = " and ".join(str(tuple(operand.shape)) for operand in operands if operand is not None)
        raise NotFollowed(f"{operation} of tensors of shapes {shapes}")
