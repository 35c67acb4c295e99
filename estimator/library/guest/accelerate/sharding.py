"""Sharding as ``accelerate`` is told of it: by plugins, by the environment of its launcher, by the file that ``accelerate launch`` reads."""

import torch
from deepspeed.engine import Settings
from preflight_host import document, launch_configuration, launch_precision, noted_devices, noted_sharding

#: Those of them that keep what was gathered until backward.
KEEPING = ("shard_grad_op", "2", "hybrid_shard_zero2", "5")
#: PyTorch's strategies by their names and by the numbers that older configurations write.
STRATEGIES = {
    "full_shard": "fsdp", "1": "fsdp", "shard_grad_op": "fsdp", "2": "fsdp", "no_shard": "ddp", "3": "ddp", "hybrid_shard": "fsdp", "4": "fsdp",
    "hybrid_shard_zero2": "fsdp", "5": "fsdp",
}  # fmt: skip


class ShardedParameters:
    """FSDP: parameters and gradients in float32 shards; with mixed precision what is gathered is in 16 bits, under autocast."""

    dtype = None

    def __init__(self, strategy, keeps, offloads, low):
        self.strategy = strategy
        self.keeps = keeps
        self.offloads = offloads
        self.low = low

    def prepare(self, model):
        copies = 1
        if self.low is not None and [p for p in model.parameters() if p.dtype == torch.float32]:
            model.to(self.low)
            copies = 2
        noted_sharding(self.strategy, copies=copies, keeps=self.keeps, offloads_parameters=self.offloads, offloads_optimizer=self.offloads)

    def wrapped(self, optimizer):
        return optimizer


class FullyShardedDataParallelPlugin:
    def __init__(
        self, sharding_strategy="FULL_SHARD", reshard_after_forward=None, cpu_offload=False, fsdp_version=1, mixed_precision_policy=None, **options
    ):  # fmt: skip
        self.options = {"fsdp_sharding_strategy": sharding_strategy, "fsdp_reshard_after_forward": reshard_after_forward, "fsdp_offload_params": cpu_offload}

    def settings(self, dtype):
        return of_options(self.options, dtype)


class DeepSpeedPlugin:
    def __init__(
        self, hf_ds_config=None, gradient_accumulation_steps=None, zero_stage=2, offload_optimizer_device=None, offload_param_device=None, **options
    ):  # fmt: skip
        self.given = hf_ds_config
        self.zero_stage = zero_stage
        self.deepspeed_config = {
            "zero_optimization": {
                "stage": zero_stage, "offload_optimizer": {"device": offload_optimizer_device}, "offload_param": {"device": offload_param_device},
            },
        }  # fmt: skip

    def settings(self, dtype):
        found = Settings(document(self.given) if self.given is not None else self.deepspeed_config)
        if found.dtype is None and found.at(("bf16", "enabled")) is None and found.at(("fp16", "enabled")) is None:
            found.dtype = dtype
        return found


def of_options(options, dtype):
    """The settings of FSDP's options, under the names of ``accelerate``'s configuration."""
    strategy = str(options.get("fsdp_sharding_strategy") or "full_shard").rpartition(".")[2].lower()
    if strategy in ("true", "none"):
        strategy = "full_shard"
    if options.get("fsdp_reshard_after_forward") is False:
        strategy = "shard_grad_op"
    return ShardedParameters(STRATEGIES.get(strategy, "fsdp"), strategy in KEEPING, bool(options.get("fsdp_offload_params")), dtype)


def of_launch(dtype):
    """The settings of the file that ``accelerate launch`` was given; None where it shards nothing."""
    config = launch_configuration()
    if config is None:
        return None
    noted_devices(config.get("num_processes", 1))
    kind = str(config.get("distributed_type", "NO")).upper()
    if kind == "FSDP":
        return of_options(config.get("fsdp_config", {}), dtype)
    if kind == "DEEPSPEED":
        options = config.get("deepspeed_config", {})
        if options.get("deepspeed_config_file"):
            return DeepSpeedPlugin(hf_ds_config=options["deepspeed_config_file"]).settings(dtype)
        plugin = DeepSpeedPlugin(
            zero_stage=options.get("zero_stage", 2), offload_optimizer_device=options.get("offload_optimizer_device"),
            offload_param_device=options.get("offload_param_device"),
        )  # fmt: skip
        return plugin.settings(dtype)
    return None


def precision_of_launch():
    """The precision that the line that starts the script, or the launcher's file, asks for; None where neither says anything."""
    config = launch_configuration()
    found = launch_precision()
    if found is None and config is not None:
        found = config.get("mixed_precision")
    return found if found in ("bf16", "fp16") else None
