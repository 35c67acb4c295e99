"""Random windows of a tokenised text."""

import numpy as np
import torch

LENGTH = 512


class Text:
    def __init__(self, path):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")

    def batch(self, size, device):
        starts = torch.randint(len(self.tokens) - LENGTH, (size,))
        inputs = torch.stack([torch.from_numpy(self.tokens[i : i + LENGTH].astype(np.int64)) for i in starts])
        targets = torch.stack([torch.from_numpy(self.tokens[i + 1 : i + 1 + LENGTH].astype(np.int64)) for i in starts])
        return inputs.to(device), targets.to(device)
