"""One run on the imaginary device: the event log and the state that PyTorch keeps per thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from analysis.certainty import Place
from estimator.kernels import EVERY_KERNEL, SM80, workspace_bytes
from estimator.tape.device import CPU, Device
from estimator.tape.dtype import BFLOAT16, FLOAT32, Dtype
from estimator.tape.events import Allocated, Became, Entered, Event, Freed, Kind, MightTake, Phase, rounded
from estimator.tape.not_followed import NotFollowed

if TYPE_CHECKING:
    from estimator.tape.saved import SavedTensorHooks
    from estimator.tape.tensor import Tensor

_KIND_OF_PHASE = {
    Phase.FORWARD: Kind.ACTIVATIONS,
    Phase.DECODE: Kind.ACTIVATIONS,
    Phase.BACKWARD: Kind.TEMPORARY,
    Phase.OPTIMIZER_STEP: Kind.TEMPORARY,
}
_CURRENT: ContextVar[Tape] = ContextVar("tape")


def call_directly(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """How a host function calls a function it was given, unless an interpreter says otherwise."""
    return function(*args, **kwargs)


def _unwatched(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Nobody wants to know which module is called."""


def no_number(what: str) -> Any:
    """What a number read from a tensor is, unless an interpreter says otherwise: not known."""
    raise NotFollowed(what)


class Autocast:
    """Whether operations choose their precision, which low one, and the casts of weights kept until it ends."""

    def __init__(self) -> None:
        self.enabled = False
        self.dtype: Dtype = BFLOAT16
        self.cache_enabled = True
        self.depth = 0
        self.casts: dict[int, tuple[Tensor, Tensor]] = {}


#: Steps of one optimizer after which the others are not waited for.
PATIENCE = 6


class Tape:
    """Events and thread state of one run. ``generation`` is the compute capability times ten (80: A100).

    The interpreter sets ``place`` before each call, ``call`` so that guest functions can be called back, and
    ``number`` so that a number read from a tensor (a loss, say) becomes a value of its own.
    """

    def __init__(self, generation: int = SM80) -> None:
        self.generation = generation
        self.place: Place | None = None
        self.events: list[Event] = []
        self.assumptions: dict[str, None] = {}  # in order of first mention
        self.call: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any] = call_directly
        self.number: Callable[[str], Any] = no_number
        self.phase = Phase.FORWARD
        self.grad_enabled = True
        self.inference = False
        self.autocast = Autocast()
        self.default_dtype = FLOAT32
        self.default_device: Device = CPU
        self.devices_before: list[Device] = []  # of the blocks that run under another one
        self.saved_hooks: list[SavedTensorHooks] = []
        self.workspaces: set[bool] = set()
        self.attention_kernels = EVERY_KERNEL
        #: Calls of modules in progress; ``watch`` sees each outermost one with its arguments.
        self.depth = 0
        self.calls = 0
        self.watch: Callable[[Any, tuple[Any, ...], dict[str, Any]], None] = _unwatched
        self.optimizers: list[tuple[str, dict[str, Any], Place | None]] = []  # class, options, where it was made
        self.checkpoints = 0  # calls that run again in backward
        #: The dtype under which every outermost module runs, whatever the program says.
        self.forced_autocast: Dtype | None = None
        self.chooses_few = False  # whether next to nothing is taken where a condition on values chooses elements
        self.backwards = 0
        self.steps = 0
        self.stepped: list[int] = []  # how often each optimizer has
        #: The most that one forward would keep beyond what is counted, if other kernels ran.
        self.might_be_kept = 0
        self._might_keep = self._might_keep_since = 0
        self._keys = 0
        self._sequence = 0

    @property
    def rounds(self) -> int:
        """How often every optimizer has stepped; one that never steps is not waited for without end."""
        if len(self.stepped) <= 1:
            return self.steps
        most = max(self.stepped)
        return min(self.stepped) if most < PATIENCE else most

    def optimizer(self, name: str, defaults: dict[str, Any], place: Place | None) -> int:
        """A new optimizer of that class, with these options: its number."""
        self.optimizers.append((name, dict(defaults), place))
        self.stepped.append(0)
        return len(self.stepped) - 1

    def allocate(self, size: int, kind: Kind | None = None) -> int:
        """A new storage of ``size`` bytes: its key."""
        self._keys += 1
        self.events.append(Allocated(self._keys, rounded(size), kind or _KIND_OF_PHASE[self.phase], self.place))
        return self._keys

    def free(self, key: int) -> None:
        """The storage ``key`` is no longer referred to."""
        self.events.append(Freed(key))

    def became(self, key: int, kind: Kind) -> None:
        """The storage ``key`` is known to be of ``kind``."""
        self.events.append(Became(key, kind))

    def might_take(self, size: int) -> None:
        """Memory that is taken here for a moment where something is not done in place."""
        self.events.append(MightTake(rounded(size)))

    def might_keep(self, size: int) -> None:
        """Memory that is kept for backward where another library's kernel runs."""
        if self.backwards != self._might_keep_since:
            self._might_keep_since, self._might_keep = self.backwards, 0
        self._might_keep += rounded(size)
        self.might_be_kept = max(self.might_be_kept, self._might_keep)

    def scratch(self, size: int, device: Device) -> None:
        """Memory of a device that a kernel takes and gives back before it ends."""
        if size and device.counted:
            self.free(self.allocate(size, Kind.TEMPORARY))

    def matrix_product(self) -> None:
        """The first matrix product of a thread takes that thread's cuBLAS workspace, for good (autograd has its own thread)."""
        thread = self.phase is Phase.BACKWARD
        if thread not in self.workspaces:
            self.workspaces.add(thread)
            self.allocate(workspace_bytes(self.generation), Kind.TEMPORARY)

    def sequence(self) -> int:
        """The number of the next node of the graph."""
        self._sequence += 1
        return self._sequence

    def assume(self, sentence: str) -> None:
        """An assumption to be shown with the estimate."""
        self.assumptions[sentence] = None

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """Run in ``phase``; the one before is resumed afterwards."""
        before = self.phase
        self.enter(phase)
        try:
            yield
        finally:
            self.resume(before)

    @contextmanager
    def gradients(self, *, enabled: bool) -> Iterator[None]:
        """Record the graph, or not."""
        before, self.grad_enabled = self.grad_enabled, enabled
        try:
            yield
        finally:
            self.grad_enabled = before

    @contextmanager
    def active(self) -> Iterator[Tape]:
        """Make this the tape that operations write on."""
        token = _CURRENT.set(self)
        try:
            yield self
        finally:
            _CURRENT.reset(token)

    def enter_module(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A module is called."""
        if self.depth == 0:
            self.calls += 1
            if self.forced_autocast is not None:
                self.autocast.enabled, self.autocast.dtype = True, self.forced_autocast
            self.watch(module, args, kwargs)
        self.depth += 1

    def leave_module(self) -> None:
        """Its call is over."""
        self.depth -= 1
        if self.depth == 0 and self.forced_autocast is not None:
            self.autocast.enabled = False
            self.autocast.casts.clear()

    def enter(self, phase: Phase) -> None:
        """Begin ``phase``."""
        if phase is not self.phase:
            self.backwards += phase is Phase.BACKWARD
            self.steps += phase is Phase.OPTIMIZER_STEP
            self.resume(phase)

    def resume(self, phase: Phase) -> None:
        """Go on in ``phase``, which began before."""
        if phase is not self.phase:
            self.phase = phase
            self.events.append(Entered(phase))


def current() -> Tape:
    """The tape of the run in progress."""
    return _CURRENT.get()
