"""Windows of a tokenised text."""

import torch
from torch.utils.data import Dataset


class Windows(Dataset):
    def __init__(self, path, length=512):
        self.tokens = torch.load(path)
        self.length = length

    def __len__(self):
        return len(self.tokens) // self.length - 1

    def __getitem__(self, index):
        start = index * self.length
        window = self.tokens[start : start + self.length + 1]
        return window[:-1], window[1:]
