"""``torchtext.data``: what turns a text into words."""
