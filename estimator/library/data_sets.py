"""What is known of public data sets: their columns, by the names under which they are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from analysis.interpreter.values import Call, GuestDict, HostFunction, Symbol, Value
from estimator.library.images import Image, mask
from estimator.library.sounds import sound
from estimator.library.tokens import OPEN, Tokens

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain

#: Classes that are taken where nobody says how many there are: a head over them is small.
_USUAL_CLASSES = 10
#: Objects that a picture is taken to show where nobody says how many.
USUAL_OBJECTS = 10
#: The value of a column of texts.
TEXT = "a text of the data set"
_LABELS = frozenset({"label", "labels", "fine_label", "coarse_label", "target", "targets", "label_ids", "class", "score", "stars"})
_IMAGES = frozenset({"image", "img", "images", "pixel_values", "picture"})
_SOUNDS = frozenset({"audio", "speech", "sound"})
_MASKS = frozenset({"annotation", "mask", "masks", "segmentation_mask"})
_TOKENS = frozenset({"input_ids", "attention_mask", "token_type_ids", "tokens", "token_ids", "ner_tags", "pos_tags", "chunk_tags", "tags"})
#: Columns by the last part of a data set's name; an image column may have its size (``img:32``, ``image:28x1`` with one channel) or be one of masks
#: (``label:mask``), a column of labels the number of its classes. What stands behind a slash is the part of a collection of data sets.
_COLUMNS: Mapping[str, str] = {
    "ag_news": "text label:4", "imdb": "text label:2", "rotten_tomatoes": "text label:2", "yelp_review_full": "text label:5", "yelp_polarity": "text label:2",
    "emotion": "text label:6", "dbpedia_14": "title content label:14", "tweet_eval": "text label", "banking77": "text label:77",
    "trec": "text coarse_label:6",
    "sst2": "sentence label:2", "stanford-sentiment-treebank": "sentence label", "snli": "premise hypothesis label:3",
    "multi_nli": "premise hypothesis label:3",
    "glue": "sentence sentence1 sentence2 label", "glue/cola": "sentence label:2", "glue/sst2": "sentence label:2", "glue/mrpc": "sentence1 sentence2 label:2",
    "glue/qqp": "question1 question2 label:2", "glue/mnli": "premise hypothesis label:3", "glue/qnli": "question sentence label:2",
    "glue/rte": "sentence1 sentence2 label:2", "glue/wnli": "sentence1 sentence2 label:2", "xnli": "premise hypothesis label:3",
    "swag": "startphrase sent1 sent2 ending0 ending1 ending2 ending3 label:4",
    "wikitext": "text", "openwebtext": "text", "bookcorpus": "text", "c4": "text", "tiny_shakespeare": "text",
    "tinystories": "text", "fineweb": "text", "fineweb-edu": "text", "slimpajama-627b": "text", "cnn_dailymail": "article highlights",
    "xsum": "document summary", "samsum": "dialogue summary", "billsum": "text summary", "alpaca": "instruction input output text",
    "guanaco-llama2-1k": "text", "openassistant-guanaco": "text", "databricks-dolly-15k": "instruction context response", "english_quotes": "quote",
    "eli5": "text", "squad": "context question", "cifar10": "img:32 label:10", "cifar100": "img:32 fine_label:100", "mnist": "image:28x1 label:10",
    "fashion_mnist": "image:28x1 label:10", "food101": "image label:101", "beans": "image_file_path image:500 labels:3", "imagefolder": "image label",
    "imagenet-1k": "image label:1000",
    "cats_vs_dogs": "image label:2", "oxford_flowers102": "image label:102",
    "superb/ks": "file audio label:12", "librispeech_asr": "file audio text speaker_id chapter_id id",
    "cppe-5": "image_id image width height objects:5",
    "sidewalk-semantic": "pixel_values label:mask", "scene_parse_150": "image annotation:mask",
    "pokemon-blip-captions": "image text", "naruto-blip-captions": "image text",
}  # fmt: skip


class Label(int):
    """The label of a sample, 0, which knows how many classes there are."""

    classes: int

    def __new__(cls, classes: int) -> Self:
        """A label of one of so many classes."""
        made = super().__new__(cls, 0)
        made.classes = classes
        return made


def _classes_of(call: Call) -> Value:
    """How many classes a column of labels has; where nobody says, a few are taken."""
    value = call.args[0]
    if isinstance(value, Label):
        return value.classes
    return _assumed_classes(call)


def _assumed_classes(call: Call) -> int:
    _assumed(call, f"how many classes the data set has is not known: {_USUAL_CLASSES} are taken")
    return _USUAL_CLASSES


def _assumed(call: Call, why: str) -> None:
    domain: TapeDomain = call.machine.state["domain"]
    domain.observed.fact("assumed_model", why, domain.caller_place())


def _data_set_columns(call: Call) -> Value:
    """The columns of a named data set, empty where it is not known."""
    name, part = call.args
    plain = name.rpartition("/")[2].lower() if isinstance(name, str) else ""
    columns = _COLUMNS.get(f"{plain}/{part}", _COLUMNS.get(plain, ""))
    return GuestDict(dict(_column(text) for text in columns.split()))


def _column(text: str) -> tuple[str, Any]:
    name, _, size = text.partition(":")
    if not size:
        return name, _value_of(name)
    if name == "objects":
        return name, _objects(int(size))
    if size == "mask":
        return name, mask()
    if name in _LABELS:
        return name, Label(int(size))
    edge, _, channels = size.partition("x")
    return name, Image(int(channels or 3), int(edge), int(edge))


def _column_of(call: Call) -> Value:
    """The value of a column: as the script made it, else what its name stands for."""
    columns, name = call.args
    return columns[name] if name in columns else _value_of(name)


def _value_of(name: Value) -> Any:
    if name in _LABELS:
        return 0
    if name == "objects":
        return _objects(None)
    if name in _SOUNDS:
        return sound()
    if name in _MASKS:
        return mask()
    if name in _IMAGES or (isinstance(name, str) and name.endswith(("_image", "_img"))):
        return Image(3, None, None)
    return Tokens(OPEN, "the length of the rows in the data set is not known") if name in _TOKENS else TEXT


def _apart(call: Call) -> Value:
    """What a function makes of a sample: how many things it goes through by itself says nothing about how many samples there are."""
    before = call.machine.unknown_items
    made = call.machine.call(call.args[0], call.args[1:], call.kwargs, call.span)
    call.machine.unknown_items = before
    return made


def _objects(classes: int | None) -> Any:
    """Objects that a picture shows, as COCO's: a box and a category each."""
    one = {"id": 0, "area": 1.0, "bbox": [0.0, 0.0, 1.0, 1.0], "category": 0 if classes is None else Label(classes)}
    return GuestDict({name: [value] * USUAL_OBJECTS for name, value in one.items()})


def _shown_objects(call: Call) -> Value:
    """How many objects a picture shows where nobody knows."""
    _assumed(call, f"how many objects the pictures show is not known: {USUAL_OBJECTS} in each are taken")
    return USUAL_OBJECTS


def _counted_labels(call: Call) -> Value:
    """How many labels a table of them names; where nobody knows what it holds, a few are taken."""
    table = call.args[0]
    return len(table) if isinstance(table, dict) and not isinstance(table, Symbol) else _assumed_classes(call)


NAMES: dict[str, Any] = {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function)
    for function in (_apart, _classes_of, _counted_labels, _data_set_columns, _column_of, _shown_objects)
}
