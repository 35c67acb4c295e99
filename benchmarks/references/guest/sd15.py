import torch
from diffusers import DDPMScheduler, UNet2DConditionModel

resolution = 512


class Latents(torch.utils.data.Dataset):
    def __len__(self):
        return 50_000

    def __getitem__(self, index):
        side = resolution // 8
        return {"latent": torch.load(f"latents/{index}.pt").view(4, side, side), "ctx": torch.load(f"text/{index}.pt").view(77, 768)}


unet = UNet2DConditionModel.from_pretrained("runwayml/stable-diffusion-v1-5", subfolder="unet").cuda()
scheduler = DDPMScheduler(num_train_timesteps=1000)
opt = torch.optim.AdamW(unet.parameters(), lr=1e-5)
loader = torch.utils.data.DataLoader(Latents(), batch_size=4, num_workers=4)
for b in loader:
    latent = b["latent"].cuda()
    noise = torch.randn_like(latent)
    t = torch.randint(0, 1000, (latent.shape[0],), device="cuda")
    noisy = scheduler.add_noise(latent, noise, t)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        pred = unet(noisy, t, b["ctx"].cuda()).sample
        loss = torch.nn.functional.mse_loss(pred.float(), noise.float())
    loss.backward()
    opt.step()
    opt.zero_grad()
