"""``torchao``: layers whose weights and inputs are rounded as if they were whole numbers of few bits."""
