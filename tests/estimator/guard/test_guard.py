"""The guard measures a live model's step, raises only where nothing can fit, and leaves everything as it was."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

import estimator


def test_the_estimator_is_imported_without_torch():
    code = "import sys, estimator; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_of_the_package_is_refused():
    with pytest.raises(AttributeError, match="VramGuard"):
        _ = estimator.VramGuard


class TestOnALiveModel:
    """Needs PyTorch, which the project itself does not."""

    @pytest.fixture(autouse=True)
    def torch(self):
        self.t = pytest.importorskip("torch", reason="the guard looks at live models: install PyTorch to test it")

    def model(self, width=256):
        nn = self.t.nn
        return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.1), nn.BatchNorm1d(width), nn.Linear(width, 8))

    def test_what_linear_layers_keep_is_counted_to_the_byte(self):
        nn = self.t.nn
        model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 8))
        found = estimator.check_vram(model, None, self.t.zeros(32, 64), device="T4").measured
        # The hidden values before and after the activation, and the result.
        assert found.activations == 2 * 32 * 256 * 4 + 32 * 8 * 4
        assert found.parameters == sum(-(-p.numel() * 4 // 512) * 512 for p in model.parameters())
        assert found.gradients == found.trainable_parameters == found.parameters

    def test_adam_keeps_two_tensors_for_each_parameter(self):
        model = self.model()
        found = estimator.check_vram(model, self.t.optim.AdamW(model.parameters()), self.t.zeros(32, 64), device="T4").measured
        assert found.optimizer_state == 2 * found.trainable_parameters

    def test_frozen_layers_have_neither_gradients_nor_state(self):
        model = self.model()
        model[0].requires_grad_(requires_grad=False)
        found = estimator.check_vram(model, self.t.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), self.t.zeros(32, 64), device="T4").measured
        assert found.gradients == found.optimizer_state == found.trainable_parameters < found.parameters

    def test_model_and_random_state_stay_as_they_were(self):
        model = self.model()
        before = {name: value.clone() for name, value in model.state_dict().items()}
        random, hooks = self.t.get_rng_state(), len(model[0]._forward_hooks)
        estimator.check_vram(model, self.t.optim.AdamW(model.parameters()), self.t.zeros(32, 64), device="T4")
        assert all(self.t.equal(before[name], value) for name, value in model.state_dict().items())
        assert self.t.equal(random, self.t.get_rng_state())
        assert len(model[0]._forward_hooks) == hooks
        assert all(parameter.device.type == "cpu" for parameter in model.parameters())

    def test_it_raises_where_even_the_optimistic_end_is_too_much(self):
        model = self.t.nn.Linear(64, 64)
        with pytest.raises(estimator.OutOfMemoryAheadError, match="the device has"):
            estimator.check_vram(model, None, self.t.zeros(10_000_000, 64), loss=lambda y: y.exp().exp().exp().sum(), device="T4")

    def test_a_small_model_passes_in_silence(self):
        model = self.model()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with estimator.VRAMGuard(model, self.t.optim.AdamW(model.parameters()), self.t.zeros(32, 64), device="T4") as guard:
                assert guard.estimate.verdict == "fits"

    def test_an_unknown_precision_is_named(self):
        with pytest.raises(ValueError, match="bf17"):
            estimator.check_vram(self.model(), None, self.t.zeros(2, 64), precision="bf17")

    def test_a_trainers_callback_answers_every_event(self):
        callback = estimator.TrainerGuard(device="T4")
        assert callback.on_step_end(None, None, None) is None
        with pytest.raises(AttributeError):
            _ = callback.name
