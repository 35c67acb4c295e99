"""Published sets of sounds: samples, their rate and what is said of them. Mirrors torchaudio 2.11 (``datasets``)."""

import torch
from preflight_host import assumed
from torch.utils.data import Dataset


class _Sounds(Dataset):
    rate = 16000
    samples = None
    length = 10000

    def __init__(self, root=None, *args, **options):
        self._walker = ["speech/sound.wav"] * self.length

    def __len__(self):
        return self.length

    def waveform(self):
        if self.samples is None:
            from torchaudio import SECONDS, TAKEN

            assumed(TAKEN)
            return torch.zeros(1, self.rate * SECONDS, device="cpu")
        return torch.zeros(1, self.samples, device="cpu")


class SPEECHCOMMANDS(_Sounds):
    """Words of one second."""

    samples = 16000
    length = 84843

    def __getitem__(self, index):
        return self.waveform(), self.rate, "yes", "speaker", 0


class LIBRISPEECH(_Sounds):
    length = 28539

    def __getitem__(self, index):
        return self.waveform(), self.rate, "a sentence", 0, 0, 0


class LJSPEECH(_Sounds):
    rate = 22050
    length = 13100

    def __getitem__(self, index):
        return self.waveform(), self.rate, "a sentence", "a sentence"


class GTZAN(_Sounds):
    """Thirty seconds of music."""

    rate = 22050
    samples = 661500
    length = 1000

    def __getitem__(self, index):
        return self.waveform(), self.rate, "blues"


class YESNO(_Sounds):
    rate = 8000
    length = 60

    def __getitem__(self, index):
        return self.waveform(), self.rate, [0, 0, 0, 0, 0, 0, 0, 0]
