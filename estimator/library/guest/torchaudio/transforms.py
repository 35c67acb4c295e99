"""Sounds in and out of spectra, as modules. Mirrors torchaudio 2.11 (``transforms/_transforms.py``)."""

import torch
from torch import nn
from torchaudio.functional import amplitude_to_DB, resample, spectrum


class Spectrogram(nn.Module):
    def __init__(self, n_fft=400, win_length=None, hop_length=None, pad=0, window_fn=None, power=2.0, normalized=False, wkwargs=None, center=True, **options):
        super().__init__()
        self.n_fft = n_fft
        self.win_length = win_length if win_length is not None else n_fft
        self.hop_length = hop_length if hop_length is not None else self.win_length // 2
        self.pad = pad
        self.center = center
        self.register_buffer("window", torch.zeros(self.win_length))

    @property
    def bins(self):
        return self.n_fft // 2 + 1

    def forward(self, waveform):
        padded = nn.functional.pad(waveform, (self.pad, self.pad)) if self.pad else waveform
        return spectrum(padded, self.bins, self.n_fft, self.hop_length, self.center)


class MelScale(nn.Module):
    def __init__(self, n_mels=128, sample_rate=16000, f_min=0.0, f_max=None, n_stft=201, **options):
        super().__init__()
        self.n_mels = n_mels
        self.register_buffer("fb", torch.zeros(n_stft, n_mels))

    def forward(self, specgram):
        return torch.matmul(specgram.transpose(-1, -2), self.fb).transpose(-1, -2)


class MelSpectrogram(nn.Module):
    def __init__(
        self, sample_rate=16000, n_fft=400, win_length=None, hop_length=None, f_min=0.0, f_max=None, pad=0, n_mels=128, window_fn=None, power=2.0,
        normalized=False, wkwargs=None, center=True, **options,
    ):  # fmt: skip
        super().__init__()
        self.n_mels = n_mels
        self.spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, center=center)
        self.mel_scale = MelScale(n_mels, sample_rate, f_min, f_max, n_fft // 2 + 1)

    def forward(self, waveform):
        return self.mel_scale(self.spectrogram(waveform))


class AmplitudeToDB(nn.Module):
    def __init__(self, stype="power", top_db=None):
        super().__init__()

    def forward(self, x):
        return amplitude_to_DB(x)


class MFCC(nn.Module):
    def __init__(self, sample_rate=16000, n_mfcc=40, dct_type=2, norm="ortho", log_mels=False, melkwargs=None):
        super().__init__()
        self.MelSpectrogram = MelSpectrogram(sample_rate=sample_rate, **(melkwargs or {}))
        self.register_buffer("dct_mat", torch.zeros(self.MelSpectrogram.n_mels, n_mfcc))

    def forward(self, waveform):
        mels = amplitude_to_DB(self.MelSpectrogram(waveform))
        return torch.matmul(mels.transpose(-1, -2), self.dct_mat).transpose(-1, -2)


class Resample(nn.Module):
    def __init__(self, orig_freq=16000, new_freq=16000, **options):
        super().__init__()
        self.orig_freq = orig_freq
        self.new_freq = new_freq

    def forward(self, waveform):
        return resample(waveform, self.orig_freq, self.new_freq)


class FrequencyMasking(nn.Module):
    """A copy with some rows, or columns, set to a value."""

    def __init__(self, *args, **options):
        super().__init__()

    def forward(self, specgram, mask_value=0.0):
        return specgram.clone()


TimeMasking = Vol = Fade = FrequencyMasking
