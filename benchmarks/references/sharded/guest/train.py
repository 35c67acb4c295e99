"""A decoder trained over several devices: PyTorch's own wrappers, chosen on the command line."""

import argparse
import functools
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self, vocabulary, width, heads, layers):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def wrapped(model, args):
    low = torch.bfloat16 if args.low else None
    if args.wrap == "ddp":
        return DistributedDataParallel(model, device_ids=[int(os.environ["LOCAL_RANK"])], gradient_as_bucket_view=args.view)
    if args.wrap == "fsdp1":
        policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}) if args.blocks else None
        strategy = ShardingStrategy.SHARD_GRAD_OP if args.keep else ShardingStrategy.FULL_SHARD
        precision = MixedPrecision(param_dtype=low, reduce_dtype=low) if args.low else None
        return FullyShardedDataParallel(model, auto_wrap_policy=policy, sharding_strategy=strategy, mixed_precision=precision, use_orig_params=args.original, device_id=0)
    if args.wrap == "fsdp2":
        options = {"reshard_after_forward": not args.keep}
        if args.low:
            options["mp_policy"] = MixedPrecisionPolicy(param_dtype=low, reduce_dtype=torch.float32 if args.reduce32 else None)
        if args.blocks:
            for block in model.blocks:
                fully_shard(block, **options)
        fully_shard(model, **options)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrap", choices=["none", "ddp", "fsdp1", "fsdp2"], default="none")
    for name in ("view", "keep", "blocks", "low", "reduce32", "original", "amp"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--accumulate", type=int, default=1)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    with device:
        model = Decoder(32000, args.width, args.width // 64, args.layers)
    model = wrapped(model, args)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    for step in range(3):
        for _ in range(args.accumulate):
            tokens = torch.zeros(args.batch, args.length, dtype=torch.int64, device=device)
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.amp):
                loss = model(tokens, tokens) / args.accumulate
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
