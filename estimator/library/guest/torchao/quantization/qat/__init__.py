"""``torchao.quantization.qat``: training that already rounds as the quantized model will."""

from torchao.quantization.qat.api import FakeQuantizeConfig, IntxFakeQuantizeConfig
from torchao.quantization.qat.fake_quantizer import FakeQuantizer
from torchao.quantization.qat.linear import (
    FakeQuantizedLinear,
    Int8DynActInt4WeightQATLinear,
    Int8DynActInt4WeightQATQuantizer,
    disable_linear_fake_quant,
    enable_linear_fake_quant,
)
