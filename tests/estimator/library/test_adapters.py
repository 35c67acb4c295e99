"""LoRA beside convolutions, adapters that are switched off for a while, and what a U-Net takes of another's configuration."""

from __future__ import annotations

from tests.estimator.script.running import estimated

UNET = """
import torch
from diffusers import UNet2DConditionModel
from peft import LoraConfig

teacher = UNet2DConditionModel.from_pretrained("stable-diffusion-v1-5/stable-diffusion-v1-5", subfolder="unet")
unet = UNet2DConditionModel.from_config(teacher.config, time_cond_proj_dim=256).cuda()
{more}
optimizer = torch.optim.SGD([p for p in unet.parameters() if p.requires_grad], lr=0.1)
for _ in range(2):
    unet(torch.zeros(1, 4, 8, 8).cuda(), 0, torch.zeros(1, 77, 768).cuda(), timestep_cond=torch.zeros(1, 256).cuda()).sample.sum().backward()
    optimizer.step()
"""


def test_a_student_has_its_teachers_numbers_and_one_condition_more():
    found = estimated(UNET.format(more="unet.train()"))
    assert found.memory.parameters == 859_520_964 + 256 * 320


def test_convolutions_are_adapted_by_thin_ones():
    adapted = "unet.requires_grad_(False)\nunet.add_adapter(LoraConfig(r=4, target_modules=['conv_shortcut', 'downsamplers.0.conv']))"
    found = estimated(UNET.format(more=adapted))
    shortcuts = [(320, 640), (640, 1280), *((wide, narrow) for narrow, wides in UPWARDS for wide in wides)]
    downward = sum(4 * width * 9 + width * 4 for width in (320, 640, 1280))
    assert found.memory.trainable_parameters == sum(4 * (inputs + outputs) for inputs, outputs in shortcuts) + downward


#: Widths that the ways up join, by the width that comes of them.
UPWARDS = [(1280, [2560] * 3 + [2560, 2560, 1920]), (640, [1920, 1280, 960]), (320, [960, 640, 640])]

SWITCHED = """
import torch
from peft import LoraConfig, get_peft_model
from torch import nn

net = get_peft_model(nn.Sequential(nn.Linear(64, 64)), LoraConfig(r=4, target_modules=["0"])).cuda()
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for _ in range(2):
    x = torch.zeros(4096, 64, device="cuda")
    with net.disable_adapter():
        target = net(x)
    {after}
    (net(x) - target).sum().backward()
    optimizer.step()
"""


def test_a_model_without_its_adapters_has_no_graph():
    found = estimated(SWITCHED.format(after="assert not target.requires_grad"))
    assert found.unknowns == ()
    assert found.memory.trainable_parameters == 2 * 4 * 64
