from __future__ import annotations

import gc

from estimator.tape.events import Kind
from estimator.tape.run import Tape
from tests.estimator.tape.events import alive, kinds, sizes
from tests.estimator.tape.native import PROGRAMS, Library


def test_memory_is_taken_in_granules_and_freed_with_the_last_reference(torch, tape):
    x = torch.empty(100)
    assert sizes(tape) == [512]
    y = x.view(10, 10)
    del x
    assert alive(tape) == 512
    del y
    assert sizes(tape) == [512, -512]


def test_views_share_memory_and_copies_do_not(torch, tape):
    x = torch.empty(4, 256)
    views = [x.t(), x[1:], x[:, None], x.expand(3, 4, 256), x.split(2)[0], x.transpose(0, 1), x.flatten(), x.detach(), x.data]
    assert len(sizes(tape)) == 1
    assert all(view.storage is x.storage for view in views)
    assert x.t().contiguous().storage is not x.storage
    assert x.clone().storage is not x.storage


def test_host_memory_is_not_counted(torch, tape):
    x = torch.empty(1000, device="cpu")
    assert sizes(tape) == []
    x = x.to("cuda")
    assert sizes(tape) == [4096]


def test_empty_tensors_take_nothing(torch, tape):
    torch.empty(0, 5)
    assert sizes(tape) == []


def test_rebinding_frees_what_was_bound(torch, tape):
    x = torch.empty(256)
    x = x + 1
    assert sizes(tape) == [1024, 1024, -1024]


def test_a_training_run_leaves_no_activation_to_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        with Tape().active() as tape:
            tape.number = lambda _: 1.0
            model_args = {"vocab": 128, "block": 16, "n_layer": 2, "n_head": 2, "n_embd": 32, "dropout": 0.1}
            names = {"model_args": model_args, "batch": 2, "length": 16, "fused": None}
            Library().run((PROGRAMS / "nanogpt.py").read_text(), names, "nanogpt")
            assert kinds(tape)[Kind.ACTIVATIONS] > 0
            for name in ("X", "Y", "logits", "loss"):
                del names[name]
            assert kinds(tape)[Kind.ACTIVATIONS] == 0
            assert kinds(tape)[Kind.GRADIENTS] == 0
    finally:
        gc.enable()
