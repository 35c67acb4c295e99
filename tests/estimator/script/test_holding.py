"""Whether a call that is not followed was given a tensor of the device."""

from __future__ import annotations

from collections.abc import Iterator

from estimator.script.holding import holds_device_tensor
from estimator.tape.device import CPU, CUDA
from estimator.tape.dtype import FLOAT32
from estimator.tape.run import Tape
from estimator.tape.tensor import new


class Counted(list):
    """A list that counts the items that were looked at."""

    looked = 0

    def __iter__(self) -> Iterator[object]:
        for item in super().__iter__():
            self.looked += 1
            yield item


def test_a_tensor_is_found_within_a_batch():
    with Tape().active():
        on_device, on_host = new((4,), FLOAT32, CUDA), new((4,), FLOAT32, CPU)
        assert holds_device_tensor([{"ids": on_host, "kept": (on_device,)}])
        assert not holds_device_tensor([{"ids": on_host}, "text", 3])


def test_a_list_that_grows_is_not_gone_through_each_time_it_is_given_to_a_call():
    growing = Counted(["a", "path"] for _ in range(10_000))
    assert not holds_device_tensor(growing)
    assert 0 < growing.looked < 100
