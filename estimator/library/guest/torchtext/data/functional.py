"""``torchtext.data.functional``: a data set that is iterated, as one that is indexed."""


def to_map_style_dataset(iter_data):
    return iter_data
