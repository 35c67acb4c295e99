"""One run of a script on the tape, from its first line to the second optimizer step."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.interpreter.imports import describe
from analysis.interpreter.machine import Machine
from analysis.interpreter.signals import BudgetSpent, GuestRaise, StopRun
from analysis.snapshot import Snapshot
from analysis.source import SourceFile
from estimator.kernels import SM80
from estimator.request import Request, as_value
from estimator.script import changes
from estimator.script.domain import TapeDomain
from estimator.script.no_tree import NoTree
from estimator.script.observed import Observed
from estimator.tape.dtype import BFLOAT16, FLOAT16
from estimator.tape.run import Tape

#: Steps of the interpreter for one run: 80 layers with adapters on each of their products take under half a million.
BUDGET = 600_000
#: The share of trained parameters up to which the first step is near enough to all later ones.
_LITTLE = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left: the tape with its log, and what was seen."""

    tape: Tape
    observed: Observed
    #: The files of the repository that were loaded, the entry first.
    sources: tuple[SourceFile, ...]
    #: Settings of the request that nothing in the script has the name of.
    unused: tuple[str, ...]


def run_script(snapshot: Snapshot, entry: str, request: Request, generation: int = SM80) -> Run:
    """Run ``entry`` until it has stepped twice, ends, fails or has used up its budget; ``generation`` is the compute capability times ten."""
    tape = Tape(generation)
    domain = TapeDomain(tape, request)
    machine = Machine(snapshot, domain, BUDGET)
    machine.entry_path = entry
    machine.tree = NoTree()
    machine.overrides = {name: as_value(text) for name, text in request.settings.items()}
    machine.state["arguments"] = {**{name: as_value(text) for name, text in request.named.items()}, **machine.overrides}
    domain.bind(machine)
    tape.forced_autocast = {"amp-bf16": BFLOAT16, "amp-fp16": FLOAT16}.get(request.overrides.get("precision", ""))
    tape.chooses_few = bool(request.overrides.get("few_chosen"))
    with tape.active():
        try:
            changes.before_the_run(domain)
            machine.load(entry, "__main__")
        except StopRun:
            pass  # the run has told all: the ordinary end
        except BudgetSpent:
            _too_long(domain, entry)
        except GuestRaise as error:
            _stopped(domain, entry, error)
    if tape.backwards and not tape.steps and domain.observed.holder:
        domain.observed.lost[domain.observed.holder] = None
    return Run(tape, domain.observed, _sources(machine), _unused(machine, request))


def _too_long(domain: TapeDomain, entry: str) -> None:
    """The budget is spent. Before the second step optimizer state and gradients have not been seen beside activations: that is small where little trains."""
    observed, tape = domain.observed, domain.tape
    if observed.lost:
        return
    step = "second" if tape.steps else "first"
    trains = tape.optimizers or tape.backwards
    told = not trains or tape.steps > 1 or (tape.steps == 1 and observed.trainable <= _LITTLE * observed.parameters)
    (observed.unknowns if told else observed.lost)[f"{entry}: the run is too long to be followed to its {step} optimizer step"] = None


def _sources(machine: Machine) -> tuple[SourceFile, ...]:
    """The repository's files that were loaded; names in the entry go before those in what it imports."""
    found = [machine.snapshot.source(path) for path in machine.loaded if path in machine.snapshot.contents]
    return tuple(source for source in found if isinstance(source, SourceFile))


def _unused(machine: Machine, request: Request) -> tuple[str, ...]:
    """Settings whose name is neither a global of the entry nor an argument that was asked for."""
    module = machine.loaded.get(machine.entry_path)
    known = {*(module.vars if module is not None else ()), *machine.state.get("asked", ())}
    return tuple(name for name in request.settings if name not in known)


def _stopped(domain: TapeDomain, entry: str, error: GuestRaise) -> None:
    """The script ended in an error: what was lost before is the likelier cause, and else the error is."""
    if domain.observed.lost:
        return
    place = domain.here(error.span) if error.span is not None else None
    earlier = next(iter(domain.causes.values()), None)
    sentence = f"{place or entry}: the script stops here with {describe(error.value)}"
    if earlier is not None:
        domain.observed.unknowns.pop(earlier[1], None)
        sentence = earlier[1]
    domain.observed.lost[sentence] = None
