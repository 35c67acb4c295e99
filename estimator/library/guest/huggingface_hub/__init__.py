"""``huggingface_hub``: which files a published pipeline has, as far as the catalog knows its parts."""

import huggingface_cache
from preflight_host import is_in_catalog


class ModelInfo:
    """The files of a repository."""

    def __init__(self, name):
        parts = [part for part in ("vae", "text_encoder", "text_encoder_2", "text_encoder_3") if is_in_catalog(name + "-" + part)]
        self.siblings = [Sibling(part + "/config.json") for part in parts]


class Sibling:
    def __init__(self, name):
        self.rfilename = name


def model_info(name, **options):
    return ModelInfo(name)


class HfApi:
    def __init__(self, *args, **options):
        pass

    def model_info(self, name, **options):
        return ModelInfo(name)

    def create_repo(self, *args, **options):
        return Created()

    upload_folder = upload_file = create_repo


class Created:
    repo_id = url = "repository"


def create_repo(*args, **options):
    return Created()


def upload_folder(*args, **options):
    pass


upload_file = login = upload_folder


#: Where files lie once they are fetched nobody knows, nor what is in them: names of a module that is nowhere.
hf_hub_download = snapshot_download = cached_download = huggingface_cache.path
