"""``sentencepiece``: a vocabulary in a file that is not at hand; how long a row of numbers is, only known texts tell."""

from preflight_host import encoded, unknown_number


class SentencePieceProcessor:
    def __init__(self, model_file=None, model_proto=None, **options):
        pass

    def load(self, path):
        return True

    Load = load

    def vocab_size(self):
        return unknown_number("the size of the vocabulary")

    get_piece_size = GetPieceSize = __len__ = vocab_size

    def bos_id(self):
        return 1

    def eos_id(self):
        return 2

    def pad_id(self):
        return -1

    def unk_id(self):
        return 0

    def piece_to_id(self, piece):
        return 0

    PieceToId = piece_to_id

    def id_to_piece(self, token):
        return ""

    IdToPiece = id_to_piece

    def encode(self, text, out_type=int, add_bos=False, add_eos=False, **options):
        if isinstance(text, list):
            return [self.encode(each, out_type, add_bos, add_eos) for each in text]
        row = encoded(text)
        if add_bos:
            row = [1] + row
        return row + [2] if add_eos else row

    Encode = encode_as_ids = EncodeAsIds = encode

    def decode(self, tokens, **options):
        return ""

    Decode = decode_ids = DecodeIds = decode
