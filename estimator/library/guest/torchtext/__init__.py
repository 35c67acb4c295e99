"""``torchtext``: texts of public data sets, whose number of words is not at hand."""
