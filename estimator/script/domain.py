"""The tape domain: the interpreter runs concretely, torch is the tape, and what is not followed becomes an unknown of the estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.certainty import Place
from analysis.interpreter import operators
from analysis.interpreter.exceptions import guest_error
from analysis.interpreter.imports import run_top_level
from analysis.interpreter.values import MISSING, Alternatives, External, HostFunction, Instance, Symbol, Value
from analysis.source import SourceFile, Span
from estimator.library import guest_module, lookup, source_at
from estimator.library.drawn import settled
from estimator.library.reflection import BUILTINS
from estimator.library.second_names import module_name, second_name
from estimator.library.symbols import Number
from estimator.script import ancestry, changes, doubts, shapes, watching
from estimator.script.guards import Escape, Filter, stands_at
from estimator.script.loops import AFTER_LOSS, WINDOW, LibraryPlan, Plan, steps_inside
from estimator.script.observed import Observed
from estimator.script.pins import pinned_version
from estimator.script.uncounted import Uncounted
from estimator.script.words import in_words
from estimator.sources.modules import own_files
from estimator.sources.releases import DEFINE_MODELS, HANDED_ON, Releases
from estimator.tape.checkpoint import RecomputationDone
from estimator.tape.events import Phase
from estimator.tape.not_followed import NotFollowed

if TYPE_CHECKING:
    from analysis.interpreter.domain import LoopPlan
    from analysis.interpreter.machine import Machine
    from estimator.request import Request
    from estimator.tape.run import Tape

#: Calls of modules that are looked at, beside the first of each class: criteria and small heads come before or after the model itself.
_WATCHED_CALLS = 64
#: Sources in which no value of the configuration is written, by the beginning of their paths.
_CONFIGURES_NOTHING = frozenset({"<library>/torch/", "<library>/prefli"})
_PREFIX = 16
_GUEST_ERRORS = (KeyError, IndexError, AttributeError, ValueError, TypeError, ImportError)


class TapeDomain(Uncounted):
    """The domain of one run of one script."""

    def __init__(self, tape: Tape, request: Request) -> None:
        super().__init__()
        self.tape = tape
        self.request = request
        self.observed = Observed()
        self.releases = Releases(request.shelf, self.pinned, lambda library: own_files(self.machine.snapshot.contents, library))
        #: Models that the caller's changes were made to, by identity.
        self.changed: dict[int, Instance] = {}
        self.buckets: Value = None
        #: What was lost and the sentence that says why, by the identity of the symbol that stands for it.
        self.causes: dict[int, tuple[Symbol, str]] = {}
        #: Sentences for names of libraries that something comes of, by name and line.
        self.blamed: dict[tuple[Place | None, str], str] = {}
        self._lines: dict[Span, Place] = {}
        #: The calls that lead to where the run is, and the line of the repository's that they come from.
        self._called_from: tuple[tuple[Span, ...], Place | None] = ((), None)

    @property
    def tracks_places(self) -> bool:
        """Inside a model nothing is configured any more, and PyTorch's own source and the zoo's configure nothing."""
        frame = self.machine.frame
        return not self.tape.depth and (frame is None or frame.module.file.path[:_PREFIX] not in _CONFIGURES_NOTHING)

    def bind(self, machine: Machine) -> None:
        """Take up work on ``machine``: guest functions that the tape calls back run there, numbers it cannot tell are symbols."""
        self.machine = machine
        machine.state["domain"] = self
        machine.builtins = BUILTINS
        machine.truth = self._truth  # type: ignore[method-assign]  # what is asked of a library's name inside a model is not decided
        self.tape.call = self._called_back
        self.tape.number = self._number
        self.tape.watch = self.watch

    def _truth(self, value: Value, span: Span) -> bool | None:
        if isinstance(value, External):
            stands = stands_at(self._source_of(span), span)
            if isinstance(stands, Escape):
                return stands.answer
            if self.tape.depth:
                doubts.branch(self, value, span)
            elif isinstance(stands, bool):
                return stands
        return operators.truth(self.machine, value, span)

    def _called_back(self, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Run a guest function for the tape; if the tape stops it halfway, the machine is put back where it was."""
        machine = self.machine
        before = (machine.frame, machine.path, machine.depth, machine.span, machine.try_depth, machine.stamp, list(machine.tree.stack))
        calls = machine.state.get("stack", ())
        try:
            return machine.call(function, list(args), dict(kwargs), machine.span)
        except RecomputationDone:
            machine.frame, machine.path, machine.depth, machine.span, machine.try_depth, machine.stamp, machine.tree.stack = before
            machine.state["stack"] = calls
            raise

    def _number(self, what: str) -> Number:
        return Number(what, self.machine.span, ((0, 0),))

    def watch(self, module: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        """A top-level module is called."""
        changes.around(self, module, args, kwargs)
        seen, first_with_gradients = self.observed.calls, self.tape.grad_enabled and not self.observed.trainable
        if len(seen) < _WATCHED_CALLS or first_with_gradients or (isinstance(module, Instance) and all(call.name != module.cls.name for call in seen)):
            watching.watch(self, module, args, kwargs)

    def is_own(self, span: Span) -> bool:
        """Whether ``span`` is in a file of the repository."""
        return span.path in self.machine.snapshot.contents

    def _source_of(self, span: Span) -> SourceFile | None:
        """The file of ``span``: the repository's, ours, or of a release."""
        found = self.machine.snapshot.source(span.path) if self.is_own(span) else source_at(span.path) or self.releases.source_at(span.path)
        return found if isinstance(found, SourceFile) else None

    def place(self, span: Span) -> Place:
        """The line of ``span``."""
        known = self._lines.get(span)
        if known is None:
            known = self._lines[span] = Place(span.path, self.machine.snapshot.position(span).line)
        return known

    def caller_place(self, parameter: str = "") -> Place | None:
        """The repository's line that set ``parameter`` of the library function that runs, or that called it."""
        frame = self.machine.frame
        if frame is not None and parameter:
            span = self.machine.place_of(frame.vars, parameter)
            if span is not None and self.is_own(span):
                return self.place(span)
        return self.here(self.machine.span)

    def here(self, span: Span) -> Place | None:
        """The repository's line that is being run: that of ``span``, or of the innermost call into a library."""
        own, path = self.machine.snapshot.contents, self.machine.path
        if span.path in own:
            return self.place(span)
        if path is not self._called_from[0]:
            outside = next((each for each in reversed(path) if each.path in own), None)
            self._called_from = (path, None if outside is None else self.place(outside))
        return self._called_from[1]

    def said(self, value: Value) -> str:
        """A value in words for a person."""
        return in_words(value)

    def pinned(self, package: str) -> tuple[int, ...]:
        """The version of a package that the repository asks for; () where it does not say."""
        return pinned_version(self.machine.snapshot, package)

    def lookup(self, dotted: str) -> Value:
        """What a library's name stands for; some names are other spellings of what guest source defines."""
        if dotted == "sys.argv":
            return [self.machine.entry_path, *self.request.arguments]
        if dotted in self.machine.patched:
            return self.machine.patched[dotted]
        target = second_name(dotted)
        if target is not None:
            module, _, name = target.rpartition(".")
            return self.machine.getattr(self.machine.import_module(module, self.machine.entry_path), name, self.machine.span)
        found = lookup(dotted)
        return self._in_guest_module(dotted) if found is MISSING else found

    def _in_guest_module(self, dotted: str) -> Value:
        """A name that a guest module defines, or a model of a library's own source."""
        owner, _, name = dotted.rpartition(".")
        owner = HANDED_ON.get(owner, owner)
        found = self._defined_in(owner, name)
        if found is MISSING and owner in DEFINE_MODELS:
            found = self._defined_in(self.releases.module_of(owner, name), name)
        behind = self.releases.behind(owner) if found is MISSING else None
        return found if behind is None else run_top_level(self.machine, behind, owner).vars.get(name, MISSING)

    def _defined_in(self, module: str, name: str) -> Value:
        if not module or self.guest_source(module) is None:
            return MISSING
        return getattr(self.machine.import_module(module, self.machine.entry_path), "vars", {}).get(name, MISSING)

    def guest_source(self, dotted: str) -> SourceFile | None:
        """Library modules that are interpreted like the repository's own: ours, and those of a release that is at hand."""
        return guest_module(module_name(dotted)) or self.releases.module(dotted)

    def unknown_attribute(self, machine: Machine, value: Value, name: str, span: Span) -> Value:
        """An attribute that the source does not tell."""
        match value:
            case Symbol():
                return ancestry.attribute(value, name)
            case External(dotted=dotted):
                return self._attribute_of_library(machine, f"{dotted}.{name}")
            case HostFunction(name=dotted):
                found = lookup(f"{dotted}.{name}")
                return External(f"{dotted}.{name}") if found is MISSING else found
            case Instance():
                if machine.try_depth or name.startswith("__"):
                    raise guest_error(AttributeError(f"{value.cls.name} has no attribute {name}"), span)
        return Symbol(f"{in_words(value)}.{name}", span, machine.stamp)

    def _attribute_of_library(self, machine: Machine, dotted: str) -> Value:
        if self.guest_source(dotted) is not None:
            return machine.import_module(dotted, machine.entry_path)
        found = self.lookup(dotted)
        return External(dotted) if found is MISSING else found

    # What is not decided.

    def decide(self, machine: Machine, condition: Value, span: Span) -> bool | None:
        """An undecided condition is taken not to hold; inside a model that is an unknown of the estimate."""
        certain = settled(condition)
        if certain is not None:
            return certain
        stands = stands_at(self._source_of(span), span)
        if isinstance(stands, Filter):
            return None  # what may be filtered out is taken to stay
        if isinstance(stands, Escape):
            return stands.answer
        if stands is not None and not self.tape.depth:
            return stands
        if isinstance(condition, Alternatives):
            return True
        if self.tape.depth:
            doubts.branch(self, condition, span)
        return False

    def plan_loop(self, machine: Machine, span: Span, length: int | None) -> LoopPlan:
        """A loop begins."""
        if not self.is_own(span):
            return LibraryPlan(self.tape)
        source = machine.snapshot.source(span.path)
        counted = length is not None and isinstance(source, SourceFile) and not steps_inside(source, span.start)
        return Plan(machine, self.tape, length, (lambda: self._shortened(length, span)) if counted else None)

    def trainings(self) -> int:
        """The run ends with the second step anyway."""
        return 0

    def _shortened(self, length: int | None, span: Span) -> None:
        self.observed.window = (length, self.place(span))

    def modulo(self, machine: Machine, left: Value, right: Value, span: Span) -> Value:
        """Counters are concrete here; a long window of accumulation is shortened."""
        tape = self.tape
        if not (isinstance(left, int) and isinstance(right, int)) or right <= WINDOW or tape.depth or not tape.backwards or not self.is_own(span):
            return MISSING
        if tape.steps == 0:
            self.observed.window = (right, self.place(span))
        return left % WINDOW

    def call_unknown(self, machine: Machine, callee: Value, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
        """A call that cannot be followed; a tensor that went into it is lost."""
        shaped = shapes.of_unknown(callee, args)
        if shaped is not None:
            return shaped
        return doubts.unknown_call(self, callee, (*args, *kwargs.values()), span)

    def before_call(self, machine: Machine, span: Span) -> None:
        """The tape attributes what comes to the repository's line that runs."""
        self.tape.place = self.here(span)

    def host_failed(self, machine: Machine, callee: Value, error: Exception, span: Span) -> Value:
        """The tape does not know the operation, its operands are unknown, or the guest made an error."""
        if callee is bool and not self.tape.depth:
            return Symbol("a condition on a tensor's values", span, machine.stamp)  # which way a script goes after a step changes no peak
        operands, machine.refused = machine.refused, ()
        is_guests = isinstance(error, _GUEST_ERRORS) and not isinstance(error, NotFollowed)
        if machine.try_depth and is_guests and not doubts.comes_of_unknown(error, operands):
            raise guest_error(error, span) from None
        return doubts.failed(self, callee, error, span, operands)

    def lose(self, sentence: str) -> None:
        """Something of the model was not followed: the peak is not known. Without gradients it is an evaluation, and training goes on."""
        evaluates = not self.tape.grad_enabled and self.tape.phase is Phase.FORWARD
        (self.observed.lost_in_evaluation if evaluates else self.observed.lost)[sentence] = None
        self.machine.steps = min(self.machine.steps, AFTER_LOSS if self.observed.lost else self.machine.steps)

    def doubt(self, sentence: str) -> None:
        """Something was not followed: inside a model, its backward or an optimizer it takes the estimate with it, elsewhere it is a doubt."""
        if self.inside:
            self.lose(sentence)
        else:
            self.observed.unknowns[sentence] = None
            self.observed.outside.add(sentence)

    @property
    def inside(self) -> bool:
        """Whether a model, a backward pass or an optimizer's step runs."""
        return self.tape.depth > 0 or self.tape.phase in {Phase.BACKWARD, Phase.OPTIMIZER_STEP}
