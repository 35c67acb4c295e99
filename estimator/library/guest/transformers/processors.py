"""The library's processors: pictures and sounds become tensors of the size that the model of the same name takes."""

import torch
from preflight_host import processor_sizes, resized, rows_of, samples_taken
from transformers.annotated import boxes, masks
from transformers.collators import padded
from transformers.saved import save, saved
from transformers.tokenizer import AutoTokenizer, BatchEncoding

#: Frames of a spectrogram of the thirty seconds that a speech model hears at once.
FRAMES = 3000


class ImageProcessor:
    """Pictures of one size, channels first."""

    image_mean = [0.5, 0.5, 0.5]
    image_std = [0.5, 0.5, 0.5]
    do_resize = do_normalize = do_rescale = True

    def __init__(self, size=None, crop_size=None, **options):
        size = {"height": 224, "width": 224} if size is None else {"height": size, "width": size} if isinstance(size, int) else dict(size)
        self.size = size
        self.crop_size = dict(size) if crop_size is None else crop_size

    @classmethod
    def from_pretrained(cls, name, size=None, **options):
        return cls(processor_sizes(name)[0] if size is None else size, **options)

    def edges(self):
        """Height and width of what is handed out: pictures that keep their proportions are taken to be square."""
        height = self.size.get("height", self.size.get("max_height", self.size.get("shortest_edge", 224)))
        return height, self.size.get("width", self.size.get("max_width", height))

    def __call__(self, images=None, return_tensors=None, annotations=None, segmentation_maps=None, **options):
        count = rows_of(images)
        height, width = self.edges()
        pixels = resized(torch.zeros((1, 3, height, width)), (height, width))
        many = torch.zeros((1 if count is None else count,) + tuple(pixels.shape[1:]))
        made = {"pixel_values": list(many) if return_tensors is None else many}
        if annotations is not None:
            made["pixel_mask"] = torch.ones((len(many), *many.shape[2:]), dtype=torch.int64)
            made["labels"] = boxes(annotations)
        if segmentation_maps is not None:
            made["pixel_mask"] = torch.ones((len(many), *many.shape[2:]), dtype=torch.int64)
            made["mask_labels"], made["class_labels"] = masks(segmentation_maps, *many.shape[2:])
        return BatchEncoding(made)

    preprocess = __call__

    def save_pretrained(self, path, **options):
        pass


class NamedImageProcessor(ImageProcessor):
    """One of a family, which the processor of a published model need not be."""


class FeatureExtractor:
    """Sounds as spectrograms of one length."""

    sampling_rate = 16000
    do_normalize = True
    model_input_names = ["input_features"]

    def __init__(self, bins=80, **options):
        self.feature_size = bins

    @classmethod
    def from_pretrained(cls, name, **options):
        if saved("extractor", name) is not None:
            return saved("extractor", name)
        takes_samples, masked = samples_taken(name)
        if takes_samples or cls is Waveforms:
            return Waveforms(return_attention_mask=masked)
        return FeatureExtractor(processor_sizes(name)[1])

    def __call__(self, sounds=None, sampling_rate=None, return_tensors=None, **options):
        count = rows_of(sounds)
        spectra = torch.zeros((1 if count is None else count, self.feature_size, FRAMES))
        return BatchEncoding({"input_features": spectra})

    def pad(self, samples, return_tensors=None, **options):
        return BatchEncoding({"input_features": torch.zeros((len(samples), self.feature_size, FRAMES))})

    def save_pretrained(self, path, **options):
        save("extractor", path, self)


class Waveforms(FeatureExtractor):
    """Sounds as they are."""

    model_input_names = ["input_values"]

    def __init__(self, return_attention_mask=False, **options):
        super().__init__()
        self.return_attention_mask = return_attention_mask

    def __call__(self, sounds=None, sampling_rate=None, return_tensors=None, max_length=None, truncation=False, **options):
        rows = sounds if isinstance(sounds, (list, tuple)) else [sounds]
        if truncation and max_length is not None:
            rows = [row[:max_length] for row in rows]
        made = BatchEncoding({"input_values": list(rows)})
        return made if return_tensors is None else self.pad([{"input_values": row} for row in rows])

    def pad(self, samples, return_tensors=None, **options):
        made = padded(self, [{"input_values": sample["input_values"]} for sample in samples])
        if self.return_attention_mask:
            made["attention_mask"] = torch.ones(made["input_values"].shape, dtype=torch.int32)
        return made


class Processor:
    """A tokenizer beside a processor of pictures or sounds."""

    def __init__(self, tokenizer, image_processor, feature_extractor):
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.feature_extractor = feature_extractor

    @classmethod
    def from_pretrained(cls, name, **options):
        return cls(AutoTokenizer.from_pretrained(name), ImageProcessor.from_pretrained(name), FeatureExtractor.from_pretrained(name))

    def __call__(self, text=None, images=None, audio=None, return_tensors=None, **options):
        made = {}
        if text is not None:
            encoded = self.tokenizer(text, return_tensors=return_tensors, **options)
            made = {name: encoded[name] for name in encoded.keys()}
        if images is not None:
            made["pixel_values"] = self.image_processor(images, return_tensors=return_tensors)["pixel_values"]
        if audio is not None:
            made["input_features"] = self.feature_extractor(audio, return_tensors=return_tensors)["input_features"]
        return BatchEncoding(made)

    def pad(self, samples=None, labels=None, **options):
        if samples is None:
            return self.tokenizer.pad(labels, **options)
        return self.feature_extractor.pad(samples, **options)

    def batch_decode(self, *args, **options):
        return []

    decode = batch_decode

    def save_pretrained(self, path, **options):
        pass
