"""How a trainer's arguments shard. Mirrors transformers 5.24.0 (``training_args.py``, ``integrations/deepspeed.py``).

Values of a DeepSpeed configuration that are "auto" are the trainer's own arguments.
"""

import torch
from accelerate.sharding import of_launch, of_options
from deepspeed.engine import Settings
from preflight_host import document


def sharded(args):
    """The settings of DeepSpeed or FSDP that the arguments, or the line that starts the script, ask for; None where there are none."""
    if args.deepspeed:
        return of_deepspeed(args)
    if args.fsdp:
        return of_options(fsdp_options(args.fsdp), low_dtype(args))
    return of_launch(low_dtype(args))


def low_dtype(args):
    return torch.bfloat16 if args.bf16 else torch.float16 if args.fp16 else None


def of_deepspeed(args):
    settings = Settings(document(args.deepspeed))
    for name, wanted in (("bf16", args.bf16), ("fp16", args.fp16)):
        if settings.config.get(name, {}).get("enabled") == "auto" and wanted:
            settings.dtype = low_dtype(args)
    return settings


def fsdp_options(given):
    """The words of ``fsdp``: a strategy, and whether it offloads."""
    words = given.split() if isinstance(given, str) else [str(getattr(each, "value", each)) for each in given] if isinstance(given, (list, tuple)) else ["full_shard"]
    strategy = [word for word in words if word.endswith("shard") or word.startswith("hybrid")]
    return {"fsdp_sharding_strategy": strategy[0] if strategy else "full_shard", "fsdp_offload_params": "offload" in words}
