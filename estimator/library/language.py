"""What guest language libraries ask of the host: configurations from the catalog, and texts as rows of tokens."""

from __future__ import annotations

import json
import posixpath
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import Call, HostFunction, Instance, Symbol, Value
from estimator.catalog import UnknownNameError, model, part
from estimator.library.data_sets import TEXT
from estimator.library.symbols import Number
from estimator.library.tokens import COLUMN_LENGTH, OPEN, TEXT_OF_COLUMN, USUAL_LENGTH, Tokens
from estimator.sources.modules import picture_size_of, takes_samples
from estimator.sources.releases import READ
from estimator.tape.device import CPU
from estimator.tape.filled import Filled
from estimator.tape.operations.creation import empty
from estimator.tape.tensor import Tensor
from estimator.zoo import PACKAGE, families, family

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain

#: What the families' tokenizers cut texts at where they are not told a length; the others have no limit.
_LONGEST_ROWS = {"gpt2": 1024, "bert": 512, "roberta": 512, "distilbert": 512, "t5": 512, "bart": 1024, "clip": 77, "whisper": 448, "transformers.marian": 512}
_USUAL_VOCABULARY = 50257
#: Masks of more places are not filled: nobody reads a length off one.
_LARGEST_MASK = 1 << 16
#: Characters of an English text that a token stands for, about.
_CHARACTERS = 4
#: Letters of a single word that stand for one token, mostly.
_LETTERS = 12
#: Types of models, as their configurations write them, that are families under another name.
_FAMILY_OF = {
    "deberta-v2": "deberta_v2", "xlm-roberta": "roberta", "camembert": "roberta", "swin": "transformers_swin", "convnext": "transformers_convnext",
}  # fmt: skip


def domain_of(call: Call) -> TapeDomain:
    """The tape domain of a call."""
    domain: TapeDomain = call.machine.state["domain"]
    return domain


def _catalog_config(call: Call) -> Value:
    """(family, numbers, dtype) of a named model; one that is not known ends the script, with the sentence that says so."""
    name, domain = call.args[0], domain_of(call)
    if isinstance(name, str):
        written = _written_config(call, name)
        if written is not None:
            return written
        try:
            found = part(name) or model(name)
        except UnknownNameError as error:
            raise unknown_model(call, str(error)) from None
        domain.observed.fact("model", found.name, domain.caller_place())
        return found.family, deepcopy(dict(found.config)), found.dtype  # the program may change what it is given
    raise unknown_model(call, f"which model is loaded is not known: its name is {domain.said(name)}")


def _named_model(call: Call) -> Value:
    """A library builds a model that has a name."""
    domain = domain_of(call)
    domain.observed.fact("model", call.args[0], domain.caller_place())
    return None


def unknown_model(call: Call, sentence: str) -> GuestRaise:
    """The end of a script whose model nobody knows, after the sentence that says so."""
    domain = domain_of(call)
    domain.lose(f"{domain.caller_place() or ''}: {sentence}".removeprefix(": "))
    return GuestRaise(Symbol(sentence, call.span), call.span)


def _no_such_model(call: Call) -> Value:
    """A library is asked for a model that nothing here builds; the script ends, with the sentence that says so."""
    library = call.args[0].rpartition(" of ")[2]
    at_hand = library not in READ or domain_of(call).releases.files(library)
    hint = "" if at_hand else f", and the library's own source is not at hand: `preflight sources add {library}==VERSION`"
    raise unknown_model(call, f"the model {call.args[0]} is not modelled yet{hint}")


def _written_config(call: Call, name: str) -> tuple[str, dict[str, Any], str] | None:
    """The ``config.json`` of a model that lies in the repository."""
    raw = call.machine.snapshot.contents.get(posixpath.normpath(posixpath.join(name, "config.json")))
    if raw is None:
        return None
    try:
        numbers = json.loads(raw)
    except ValueError:
        return None
    kind = _FAMILY_OF.get(str(numbers.get("model_type")), numbers.get("model_type")) if isinstance(numbers, dict) else None
    if kind not in families() or not family(kind).mirrors.startswith("transformers"):
        return None
    stored = str(numbers.get("dtype", numbers.get("torch_dtype", "float32")))
    return (
        kind,
        {key: value for key, value in numbers.items() if key not in {"model_type", "dtype", "torch_dtype", "architectures"}},
        stored,
    )


def _tokenizer_limits(call: Call) -> Value:
    """The size of the vocabulary, the longest row (None: no limit) and the family ("" unknown) of the model that a tokenizer belongs to."""
    try:
        found = part(call.args[0]) or model(call.args[0]) if isinstance(call.args[0], str) else None
    except UnknownNameError:
        found = None
    if found is None:
        return _USUAL_VOCABULARY, None, ""
    return found.config.get("vocab_size", _default_vocabulary(call, found.family)), _LONGEST_ROWS.get(found.family), found.family


def _default_vocabulary(call: Call, name: str) -> Value:
    """The vocabulary that the configuration of a family has by default."""
    machine = call.machine
    built_by = domain_of(call).releases.class_for(name.partition(".")[2], "config")
    dotted = f"{PACKAGE}.{name}.{family(name).config}" if name in families() else built_by
    if dotted is None:
        return _USUAL_VOCABULARY
    module, _, wanted = dotted.rpartition(".")
    config = machine.call(machine.getattr(machine.import_module(module, machine.entry_path), wanted, call.span), [], {}, call.span)
    return config.fields.get("vocab_size", _USUAL_VOCABULARY) if isinstance(config, Instance) else _USUAL_VOCABULARY


def _vocabulary_of_type(call: Call) -> Value:
    """How many tokens a tokenizer of a family has that is made of the program's own vocabulary."""
    count = _default_vocabulary(call, f"transformers.{call.args[0]}") if isinstance(call.args[0], str) else _USUAL_VOCABULARY
    domain = domain_of(call)
    why = f"how many words the vocabulary has that is made of the data is not known: {count} are taken, as models of that family have"
    domain.observed.fact("assumed_model", why, domain.caller_place())
    return count


def _is_in_catalog(call: Call) -> Value:
    """Whether the catalog has a model of that name."""
    try:
        model(call.args[0])
    except UnknownNameError:
        return False
    return True


def _processor_sizes(call: Call) -> Value:
    """The size of the pictures, and the bins of the spectrograms, that the model a processor belongs to takes."""
    try:
        found = part(call.args[0]) or model(call.args[0]) if isinstance(call.args[0], str) else None
    except UnknownNameError:
        found = None
    config = {} if found is None else found.config
    vision: Any = config.get("vision_config", config)
    library, _, kind = ("", "", "") if found is None else found.family.partition(".")
    by_default = picture_size_of(domain_of(call).releases.files(library), kind) if library == "transformers" else {}
    edge = vision.get("image_size", 224)
    return by_default or {"height": edge, "width": edge}, config.get("num_mel_bins", 80)


def _samples_taken(call: Call) -> Value:
    """Whether the model of that name takes sounds as rows of samples, and whether it is told which of them are padding."""
    found = part(call.args[0]) if isinstance(call.args[0], str) else None
    library, _, kind = ("", "", "") if found is None else found.family.partition(".")
    if found is None or library != "transformers":
        return False, False
    return takes_samples(domain_of(call).releases.files(library), kind), found.config.get("feat_extract_norm") == "layer"


def _tokenized(call: Call) -> Value:
    """The row that a tokenizer makes of a text."""
    texts, padding, truncation, length, limit = call.args
    domain = domain_of(call)
    override = domain.request.overrides.get("sequence_length")
    if override is not None:
        return Tokens(override)
    if padding == "max_length" or truncation not in {None, False, "do_not_truncate"}:
        return _cut(call, padding, length, limit)
    words = [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else []
    if words and all(isinstance(word, str) and word and " " not in word and TEXT not in word and TEXT_OF_COLUMN not in word for word in words):
        return Tokens(max(-(-len(word) // _LETTERS) for word in words))
    if isinstance(texts, str) and TEXT_OF_COLUMN in texts:
        return Tokens(OPEN, "all texts of a column are joined: so many tokens are taken", COLUMN_LENGTH, stream=True)
    return Tokens(OPEN, "texts are not cut to a length: texts of this many tokens are taken", min(USUAL_LENGTH, limit or USUAL_LENGTH))


def _encoded(call: Call) -> Value:
    """The row that a bare vocabulary makes of a text: of a known one about as long, of a data set's or a file's of open length."""
    text = call.args[0]
    override = domain_of(call).request.overrides.get("sequence_length")
    if isinstance(text, str) and TEXT not in text:
        return Tokens(-(-len(text) // _CHARACTERS))
    usual = USUAL_LENGTH if override is None else override
    return Tokens(OPEN, "the length of the texts is not known: texts of this many tokens are taken", usual, stream=not isinstance(text, str))


def _unknown_number(call: Call) -> Value:
    """A number that only the machine of the run can tell."""
    return Number(str(call.args[0]), call.span, call.machine.stamp)


def _cut(call: Call, padding: Value, length: Value, limit: Value) -> Tokens:
    domain = domain_of(call)
    place = domain.caller_place("max_length")
    if not isinstance(length, int):
        if isinstance(length, Symbol):
            return Tokens(OPEN, f"max_length is {domain.said(length)}: texts of this many tokens are taken")
        length = limit if isinstance(limit, int) else USUAL_LENGTH
        return Tokens(length, f"no max_length is given: texts of {length} tokens are taken")
    domain.observed.fact("sequence_length", length, place)
    if padding == "max_length":
        return Tokens(length, "")
    return Tokens(length, f"texts may be shorter than max_length={length}: a batch with one that long is taken", at_most=True)


def tensor_of_tokens(domain: TapeDomain, row: Tokens, rows: tuple[int, ...]) -> Tensor:
    """Rows of tokens as a tensor on the host; a length in doubt is noted as assumed."""
    length = row.usual if row.open else row.length
    if row.why:
        domain.observed.fact("assumed_sequence_length", (length, row.why, row.at_most), None)
    return empty(*rows, length, dtype=row.dtype, device=CPU)


def _rows_of(call: Call) -> Value:
    """How many texts a tokenizer is given at once; None for a single one."""
    texts = call.args[0]
    length = texts.parts.get(".__len__()") if isinstance(texts, Symbol) else len(texts) if isinstance(texts, (list, tuple)) else None
    return length if isinstance(length, int) else None


def _tokens_as_tensor(call: Call) -> Value:
    row, rows = call.args
    return tensor_of_tokens(domain_of(call), row, (rows,)) if isinstance(row, Tokens) else row


def _filled_mask(call: Call) -> None:
    """A mask over texts: every place is taken to be filled."""
    mask = call.args[0]
    if isinstance(mask, Tensor) and mask.numel() <= _LARGEST_MASK:
        mask.values = Filled((1,) * mask.numel())


NAMES: dict[str, Any] = {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function)
    for function in (
        _catalog_config,
        _is_in_catalog,
        _named_model,
        _no_such_model,
        _processor_sizes,
        _rows_of,
        _samples_taken,
        _tokenizer_limits,
        _tokenized,
        _tokens_as_tensor,
        _encoded,
        _filled_mask,
        _unknown_number,
        _vocabulary_of_type,
    )
}
