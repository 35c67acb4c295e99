"""``HfArgumentParser``: dataclasses filled with their defaults, and with what the caller sets."""

from preflight_host import filled_dataclass, yaml_of_file


class HfArgumentParser:
    def __init__(self, dataclass_types, **options):
        self.types = list(dataclass_types) if isinstance(dataclass_types, (list, tuple)) else [dataclass_types]

    def parse_args_into_dataclasses(self, *args, **options):
        return tuple(filled_dataclass(each, {}) for each in self.types)

    def parse_dict(self, values, *args, **options):
        return tuple(filled_dataclass(each, values) for each in self.types)

    def parse_yaml_file(self, yaml_file, *args, **options):
        return self.parse_dict(yaml_of_file(yaml_file))

    def parse_json_file(self, json_file, *args, **options):
        return self.parse_dict(yaml_of_file(json_file))
