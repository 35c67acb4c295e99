"""Sounds from torchaudio reach a model in the length that the script leaves of them, and as spectra of the right size."""

from __future__ import annotations

from tests.estimator.script.running import estimated

PREPARED = """
import torch
import torchaudio
from torch import nn
from torchaudio import transforms

def sample(path, length=8000):
    wave, rate = torchaudio.load(path)
    wave = transforms.Resample(rate, 8000)(wave)[:, :length]
    return nn.functional.pad(wave, (0, length - wave.shape[-1]))
"""
TRAINED = """
seen = torch.stack([{made}] * 4)
model = nn.Sequential(nn.Flatten(), nn.Linear({size}, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(seen.cuda()).sum().backward()
    optimizer.step()
"""
LONG = "how long the sounds are is not known: 16 seconds of 16,000 samples are taken"


def trained(made, size):
    found = estimated(PREPARED + TRAINED.format(made=made, size=size))
    assert found.memory is not None, found.unknowns
    return found


def test_a_script_cuts_sounds_of_which_nobody_knows_the_length():
    found = trained('sample("a.wav")', 8000)
    assert found.unknowns == (LONG,)
    assert found.memory.parameters == 2 * 8000 + 2


def test_spectra_have_a_row_for_each_frequency_and_a_column_for_each_hop():
    settings = "sample_rate=8000, n_fft=256, hop_length=100, n_mels=40"
    trained(f'transforms.MelSpectrogram({settings})(sample("a.wav"))', 40 * 81)
    trained(f'transforms.MelSpectrogram({settings}, center=False)(sample("a.wav"))', 40 * 78)
    trained('transforms.AmplitudeToDB()(transforms.Spectrogram(n_fft=64)(sample("a.wav")))', 33 * 251)
    trained('transforms.MFCC(8000, n_mfcc=13)(sample("a.wav"))', 13 * 41)


def test_words_of_a_published_set_last_a_second():
    wave = 'torchaudio.datasets.SPEECHCOMMANDS("data", download=True)[0][0]'
    assert trained(wave, 16000).unknowns == ()
