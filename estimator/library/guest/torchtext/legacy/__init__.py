"""``torchtext.legacy``: fields, and iterators that hand out batches with an attribute for each."""
