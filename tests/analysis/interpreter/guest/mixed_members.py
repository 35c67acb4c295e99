"""Members of an enumeration that are text as well: they are found among text, and text among them."""

import enum


class Method(str, enum.Enum):  # noqa: UP042  the older form, which most programs use
    LORA = "LORA"
    PREFIX = "PREFIX"


class Plain(enum.Enum):
    LORA = "LORA"


r = [
    "LORA" in list(Method),
    "OTHER" in list(Method),
    Method.LORA in ["LORA", "PREFIX"],
    Method.PREFIX in ("LORA", Method.LORA),
    "LORA" in list(Plain),
    Plain.LORA in ["LORA", Plain.LORA],
]
