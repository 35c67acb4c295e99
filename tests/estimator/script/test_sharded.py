"""Sharding that is written in a script, its configuration or the line that starts it divides what it should over the devices it names."""

from __future__ import annotations

from functools import cache

import pytest

from analysis.snapshot import Snapshot
from estimator.kernels import workspace_bytes
from estimator.request import Request
from estimator.run import estimate

NUMBERS = "hidden_size=256, intermediate_size=512, num_hidden_layers=8, num_attention_heads=4"
MODEL = f"""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

def build():
    return LlamaForCausalLM(LlamaConfig({NUMBERS}))

def batch():
    return torch.zeros(1, 64, dtype=torch.int64, device="cuda")
"""
LOOP = """
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    x = batch()
    model(input_ids=x, labels=x).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
FSDP1 = """
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy
from model import *
model = FullyShardedDataParallel(build(), sharding_strategy=ShardingStrategy.{strategy}, mixed_precision={precision})
"""
FSDP2 = """
from torch.distributed.fsdp import fully_shard
from model import *
model = build()
for layer in model.model.layers:
    fully_shard(layer)
fully_shard(model)
"""
WRAPPED = (
    "from torch.distributed.fsdp.wrap import ModuleWrapPolicy\nfrom transformers.models.llama.modeling_llama import LlamaDecoderLayer\n"
    + FSDP1.format(strategy="FULL_SHARD", precision="None, auto_wrap_policy=ModuleWrapPolicy({LlamaDecoderLayer})")
    + LOOP
)
DEEPSPEED = """
import deepspeed
from model import *
model = build()
engine, optimizer, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={config})
for _ in range(3):
    x = batch()
    engine.backward(engine(input_ids=x, labels=x).loss)
    engine.step()
"""
ACCELERATE = """
from accelerate import Accelerator, DeepSpeedPlugin, FullyShardedDataParallelPlugin
from model import *
accelerator = Accelerator({options})
model = build()
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
for _ in range(3):
    x = batch()
    accelerator.backward(model(input_ids=x, labels=x).loss)
    optimizer.step()
    optimizer.zero_grad()
"""
JSON = '{"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}}'
YAML = "distributed_type: FSDP\nnum_processes: 4\nmixed_precision: bf16\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n"
ALL = 4 * 21_631_232  # bytes of the model in float32
STATE = 2 * ALL


@cache
def found(text, devices=None, **files):
    given = {"train.py": text.encode(), "model.py": MODEL.encode(), **{name.replace("_", "."): content.encode() for name, content in files.items()}}
    overrides = {} if devices is None else {"devices": devices}
    return estimate(Snapshot.of(given), Request(entry="train.py", overrides=overrides))


def parts(text, devices=8, **files):
    [one] = found(text, devices, **files)
    assert one.memory is not None, one.unknowns
    return one, one.memory.components


def test_fsdp_divides_everything():
    one, held = parts(FSDP1.format(strategy="FULL_SHARD", precision=None) + LOOP)
    assert one.config.sharding.value == "fsdp"
    assert held.parameters == pytest.approx(ALL / 8, rel=0.01)
    assert held.optimizer_state == pytest.approx(STATE / 8, rel=0.01)


def test_shards_stay_in_float32_where_a_lower_type_computes():
    _, plain = parts(FSDP1.format(strategy="FULL_SHARD", precision=None) + LOOP)
    one, low = parts(FSDP1.format(strategy="FULL_SHARD", precision="MixedPrecision(param_dtype=torch.bfloat16)") + LOOP)
    assert (low.parameters, low.optimizer_state) == pytest.approx((plain.parameters, plain.optimizer_state), rel=0.01)
    assert one.config.precision.value == "bf16"


def test_the_second_way_of_writing_it_is_the_same():
    assert parts(FSDP2 + LOOP)[1] == parts(WRAPPED)[1]


def test_what_is_gathered_may_stay_until_backward():
    kept, held = parts(FSDP1.format(strategy="SHARD_GRAD_OP", precision=None) + LOOP)
    assert kept.config.sharding.value == "fsdp"
    assert held.parameters == pytest.approx(ALL / 8, rel=0.01)
    assert dict(kept.memory.phases)["forward"] >= ALL


def test_without_a_policy_the_whole_model_is_gathered():
    plain, _ = parts(FSDP1.format(strategy="FULL_SHARD", precision=None) + LOOP)
    whole = 3 * ALL + 3 * ALL / 8  # parameters, gradients and a buffer of them; a share of parameters and state
    assert dict(plain.memory.phases)["backward"] == pytest.approx(whole + 2 * workspace_bytes(80), rel=0.01)
    wrapped, _ = parts(WRAPPED)
    assert wrapped.memory.allocated_bytes < plain.memory.allocated_bytes


def test_buckets_whose_views_are_the_gradients_stay_when_these_are_set_to_none():
    ddp = """
from torch.nn.parallel import DistributedDataParallel
from model import *
model = DistributedDataParallel(build().cuda(), gradient_as_bucket_view={view})
"""
    (_, copied), (viewed, kept) = (parts(ddp.format(view=view) + LOOP) for view in (False, True))
    assert dict(viewed.memory.phases)["forward"] >= 4 * ALL
    assert copied.gradients == pytest.approx(2 * ALL, rel=0.02)
    assert kept.gradients == pytest.approx(ALL, rel=0.02)


@pytest.mark.parametrize("config", ["{}", "'ds.json'"])
def test_deepspeed_keeps_float32_copies_on_the_host_where_it_offloads(config):
    given = JSON.replace("true", "True") if config == "{}" else config
    files = {"ds_json": JSON} if config != "{}" else {}
    one, held = parts(DEEPSPEED.format(config=given), **files)
    assert one.config.sharding.value == "zero3"
    assert held.optimizer_state == 0
    assert held.parameters == pytest.approx(ALL / 2 / 8, rel=0.01)


def test_deepspeed_without_offload_holds_three_copies_in_float32():
    _, held = parts(DEEPSPEED.format(config="{'bf16': {'enabled': True}, 'zero_optimization': {'stage': 1}}"))
    assert held.optimizer_state == pytest.approx((ALL + STATE) / 8, rel=0.01)
    assert held.parameters == pytest.approx(ALL / 2, rel=0.01)


@pytest.mark.parametrize(
    ("options", "strategy"),
    [("deepspeed_plugin=DeepSpeedPlugin(zero_stage=2)", "zero2"), ("fsdp_plugin=FullyShardedDataParallelPlugin()", "fsdp")],
)
def test_plugins_shard(options, strategy):
    assert parts(ACCELERATE.format(options=options))[0].config.sharding.value == strategy


def test_the_file_of_the_launcher_shards_over_its_processes():
    plain, started = found(ACCELERATE.format(options=""), None, a_yaml=YAML, run_sh="accelerate launch --config_file a.yaml train.py\n")
    assert (plain.config.sharding.value, plain.started_at) == ("none", None)
    assert (started.config.sharding.value, started.config.devices.value, started.started_at) == ("fsdp", 4, "run.sh:1")
    assert started.memory.components.parameters == pytest.approx(ALL / 4, rel=0.01)


def test_devices_that_nobody_names_are_said_to_be_missing():
    [one] = found(FSDP2 + LOOP)
    assert any("a number of devices that is not known" in sentence for sentence in one.unknowns)
