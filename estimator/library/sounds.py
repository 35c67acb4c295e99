"""Sounds on the host: rows of samples, of which only the number matters."""

from __future__ import annotations

from typing import ClassVar

from analysis.interpreter.values import GuestDict, Value
from estimator.library.tokens import Tokens
from estimator.tape.dtype import FLOAT32, Dtype

#: Samples of a second, as speech models take them.
RATE = 16_000
#: The samples of a sound of which nothing is known: more than any window of it.
_ENDLESS = 1 << 24
#: Seconds that sounds are taken to last where nothing says how long: about the longest of LibriSpeech.
_USUAL_SECONDS = 16


class Sound(Tokens):
    """A row of samples."""

    __slots__ = ()
    dtype: ClassVar[Dtype] = FLOAT32
    endless: ClassVar[int] = _ENDLESS
    kind: ClassVar[str] = "sounds"
    unit: ClassVar[str] = "samples"

    def squeeze(self) -> Sound:
        """The same: there is one channel."""
        return self.copy()


def sound() -> Value:
    """A sound as a data set hands it out."""
    why = f"how long the sounds are is not known: {_USUAL_SECONDS} seconds are taken"
    return GuestDict({"array": Sound(_ENDLESS, why, _USUAL_SECONDS * RATE), "sampling_rate": RATE, "path": "a sound"})


NAMES: dict[str, Value] = {"preflight_host.Sound": Sound}
