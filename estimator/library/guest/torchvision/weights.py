"""Published weights by the names of their models: which ones they are does not matter, how images are prepared for them does."""


class _Published(str):
    """Weights that were published: how the images were prepared that they were trained on."""

    crop = 224

    def transforms(self, **options):
        from torchvision import transforms

        return transforms.Compose([transforms.Resize(self.crop), transforms.CenterCrop(self.crop), transforms.ToTensor()])

    @property
    def meta(self):
        return {"categories": [str(index) for index in range(1000)]}


class _Weights:
    """Published weights; which ones does not matter."""

    DEFAULT = IMAGENET1K_V1 = IMAGENET1K_V2 = _Published("weights")


def _weights_of(side):
    """Weights that were trained on images of that side."""
    made = type("Published", (_Published,), {"crop": side})("weights")
    return type("Weights", (_Weights,), {"DEFAULT": made, "IMAGENET1K_V1": made, "IMAGENET1K_V2": made})


VGG11_Weights = VGG13_Weights = VGG16_Weights = VGG19_Weights = _Weights
VGG11_BN_Weights = VGG13_BN_Weights = VGG16_BN_Weights = VGG19_BN_Weights = _Weights
ResNet18_Weights = ResNet34_Weights = ResNet50_Weights = ResNet101_Weights = ResNet152_Weights = _Weights
EfficientNet_V2_S_Weights, EfficientNet_V2_M_Weights, EfficientNet_V2_L_Weights = _weights_of(384), _weights_of(480), _weights_of(480)
MobileNet_V3_Large_Weights = MobileNet_V3_Small_Weights = ResNeXt50_32X4D_Weights = ResNeXt101_32X8D_Weights = _Weights
Wide_ResNet50_2_Weights = Wide_ResNet101_2_Weights = _Weights
EfficientNet_B0_Weights, EfficientNet_B1_Weights, EfficientNet_B2_Weights = _Weights, _weights_of(240), _weights_of(288)
EfficientNet_B3_Weights, EfficientNet_B4_Weights, EfficientNet_B5_Weights = _weights_of(300), _weights_of(380), _weights_of(456)
EfficientNet_B6_Weights, EfficientNet_B7_Weights = _weights_of(528), _weights_of(600)
DenseNet121_Weights = DenseNet161_Weights = DenseNet169_Weights = DenseNet201_Weights = _Weights
ConvNeXt_Tiny_Weights = ConvNeXt_Small_Weights = ConvNeXt_Base_Weights = ConvNeXt_Large_Weights = _Weights
ViT_B_16_Weights = ViT_B_32_Weights = ViT_L_16_Weights = ViT_L_32_Weights = ViT_H_14_Weights = _Weights
MobileNet_V2_Weights = Swin_T_Weights = Swin_S_Weights = Swin_B_Weights = _Weights
