"""What loads weights and adapters; on an imaginary machine only where adapters are put decides."""


class _Loads:
    pass


class PeftAdapterMixin(_Loads):
    pass


class FromOriginalModelMixin(_Loads):
    pass


class UNet2DConditionLoadersMixin(_Loads):
    pass


class FluxTransformer2DLoadersMixin(_Loads):
    pass


class SD3Transformer2DLoadersMixin(_Loads):
    pass
