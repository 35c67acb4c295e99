"""Where operations are entered under PyTorch's names: functions, and methods and operators of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from estimator.tape.autocast import POLICIES, casting
from estimator.tape.tensor import Tensor

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

#: Dotted name to callable, filled while the operation modules are imported; ``facade`` shows it.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def operation(*names: str) -> Callable[[AnyFunction], AnyFunction]:
    """Enter a function: "matmul" is ``torch.matmul``, ".matmul" the method of a tensor, "F.gelu" of ``torch.nn.functional``.

    Its autocast policy is that of the function's own name, so that all its spellings behave alike.
    """

    def enter(function: AnyFunction) -> AnyFunction:
        policy = POLICIES.get(function.__name__)
        called: Any = casting(function, policy) if policy else function
        for name in names:
            if name.startswith("."):
                setattr(Tensor, name[1:], called)
            elif name.startswith("F."):
                FUNCTIONS[f"torch.nn.functional.{name[2:]}"] = called
            else:
                FUNCTIONS[f"torch.{name}"] = called
        return called  # type: ignore[no-any-return]

    return enter
