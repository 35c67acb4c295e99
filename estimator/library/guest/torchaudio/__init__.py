"""``torchaudio``: sounds of which nobody knows how long they last; a script's own limits decide what is left of them. Mirrors torchaudio 2.11."""

import torch
from preflight_host import assumed
from torchaudio import datasets, functional, transforms

#: Sixteen seconds as speech models take them.
RATE, SECONDS = 16000, 16
TAKEN = "how long the sounds are is not known: 16 seconds of 16,000 samples are taken"


class AudioMetaData:
    sample_rate = RATE
    num_frames = RATE * SECONDS
    num_channels = 1
    bits_per_sample = 16
    encoding = "PCM_S"


def load(uri, frame_offset=0, num_frames=-1, normalize=True, channels_first=True, **options):
    if num_frames < 0:
        assumed(TAKEN)
    samples = num_frames if num_frames > 0 else RATE * SECONDS
    shape = (1, samples) if channels_first else (samples, 1)
    return torch.zeros(shape, device="cpu"), RATE


def info(uri, **options):
    return AudioMetaData()


def save(uri, src, sample_rate, **options):
    pass


def set_audio_backend(backend):
    pass


def list_audio_backends():
    return ["soundfile"]
