"""``features_only``: what a classifier's stages make, without its head."""

from torch import nn

STAGES = ("layer1", "layer2", "layer3", "layer4")


class Info:
    """How many channels each of what is handed out has."""

    def __init__(self, channels):
        self.made = channels

    def channels(self):
        return list(self.made)


class ResNetFeatures(nn.Module):
    """What a ResNet's stem and stages make, of which ``indices`` are handed out."""

    def __init__(self, model, indices):
        super().__init__()
        for name in ("conv1", "bn1", "act1", "maxpool", *STAGES):
            self.add_module(name, getattr(model, name))
        self.indices = tuple(indices)
        widths = [64, *[64 * 2**stage * model.block.expansion for stage in range(len(STAGES))]]
        self.feature_info = Info([widths[index] for index in self.indices])

    def forward(self, x):
        x = self.act1(self.bn1(self.conv1(x)))
        made = [x] if 0 in self.indices else []
        x = self.maxpool(x)
        for index, name in enumerate(STAGES):
            x = getattr(self, name)(x)
            if index + 1 in self.indices:
                made.append(x)
        return made
