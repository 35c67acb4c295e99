import torch
from preflight_zoo import bert, gpt2, llama, qwen2, resnet

torch.set_default_device("cuda")
torch.set_default_dtype(getattr(torch, base))
module = {"bert": bert, "gpt2": gpt2, "llama": llama, "qwen2": qwen2, "resnet": resnet}[family]
model = module.build(getattr(module, config)(**model_args))
torch.set_default_dtype(torch.float32)
if checkpointing:
    model.gradient_checkpointing_enable({"use_reentrant": False})
optimizer = getattr(torch.optim, optimizer_name)(model.parameters())
for _ in range(2):
    x, y = torch.empty(size, dtype=torch.float32 if len(size) == 4 else torch.long), torch.empty(target, dtype=torch.long)
    if same:
        y = x
    with torch.autocast("cuda", dtype=getattr(torch, amp) if amp else None, enabled=bool(amp)):
        if len(size) == 4:
            outputs = model(x)
            loss = torch.nn.functional.cross_entropy(outputs, y)
        else:
            outputs = model(input_ids=x, labels=y)
            loss = outputs.loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
