"""``torchao.quantization``."""
