import torch
from datasets import load_dataset
from transformers import CLIPModel, CLIPProcessor

model = CLIPModel.from_pretrained("openai/clip-vit-base-patch32").cuda()
processor = CLIPProcessor.from_pretrained("openai/clip-vit-base-patch32")
pairs = load_dataset("imagefolder", data_dir="pairs", split="train")


def collate(rows):
    return processor(
        text=[r["caption"] for r in rows], images=[r["image"] for r in rows], return_tensors="pt", padding="max_length", max_length=77, truncation=True
    )


loader = torch.utils.data.DataLoader(pairs, batch_size=64, collate_fn=collate)
opt = torch.optim.AdamW(model.parameters(), lr=1e-6)
for b in loader:
    b = b.to("cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(**b, return_loss=True).loss
    loss.backward()
    opt.step()
    opt.zero_grad()
