"""torch.hub: models from a folder with a hubconf.py. Nothing is downloaded."""

import contextlib
import importlib.util
import os
import re
import sys
from urllib.parse import urlparse as urlparse

from ..._public import dir_of as _dir_of

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # libraries read a file's checksum from its name
_HOW = "download it yourself, with a browser, git or curl"
_dir = [None]


class tqdm:
    """A progress bar for libraries that take it from here when the package tqdm is missing. It shows nothing."""

    def __init__(self, iterable=(), total=None, **shown):
        self.iterable, self.total, self.n, self.disable = iterable, total, 0, shown.get("disable", False)

    def __iter__(self):
        for item in self.iterable:
            self.n += 1
            yield item

    def update(self, n=1):
        """Count n more as done."""
        self.n += n

    def set_description(self, desc=None, refresh=True):
        """Nothing is shown."""

    set_postfix = set_description

    def close(self):
        """Nothing is open."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        """Nothing is open."""


def _get_torch_home():  # torchvision asks for it
    """$TORCH_HOME, else ~/.cache/torch."""
    home = os.environ.get("TORCH_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "torch"
    )
    return os.path.expanduser(home)


def get_dir():
    """The folder for repositories and checkpoints: the one of set_dir, else $TORCH_HOME/hub, else ~/.cache/torch/hub.
    """
    return _dir[0] or os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    """Set the folder for repositories and checkpoints."""
    _dir[0] = os.path.expanduser(d)


def _folder(repo, source):
    """The folder that a program means. Raises ValueError for an unknown source, FileNotFoundError if the folder does
    not exist."""
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "local":
        return os.path.expanduser(repo)
    owner, _, rest = repo.partition("/")
    name, _, branch = rest.partition(":")
    for known in [branch] if branch else ["main", "master"]:
        kept = os.path.join(get_dir(), f"{owner}_{name}_{known.replace('/', '_')}")
        if os.path.isdir(kept):
            return kept
    raise FileNotFoundError(
        f"torch.hub: {repo} is not in {get_dir()}, and nothing is downloaded: {_HOW}, and give source='local'"
    )


@contextlib.contextmanager
def _hubconf(repo, source):
    """The module hubconf.py of a folder. While it is loaded, the folder is on sys.path."""
    folder = _folder(repo, source)
    path = os.path.join(folder, "hubconf.py")
    if not os.path.exists(path):
        raise FileNotFoundError(f"torch.hub: {folder} has no hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
        missing = [
            p for p in getattr(module, "dependencies", ()) if importlib.util.find_spec(p) is None and p != "torch"
        ]
        if missing:
            raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
        yield module
    finally:
        sys.path.remove(folder)


def _entry(module, model):
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True, source=None):
    """The names of the models in a folder, or in a repository that lies in get_dir()."""
    source = source or ("local" if os.path.isdir(os.path.expanduser(github)) else "github")
    with _hubconf(github, source) as module:
        return [n for n, f in vars(module).items() if callable(f) and not n.startswith("_")]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None, source=None):
    """The docstring of a model's function."""
    source = source or ("local" if os.path.isdir(os.path.expanduser(github)) else "github")
    with _hubconf(github, source) as module:
        return _entry(module, model).__doc__


def load(
    repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True,
    skip_validation=False, **kwargs,
):  # fmt: skip
    """Call the function named model in hubconf.py with the arguments, and return its result. With source="local"
    repo_or_dir is a folder. Otherwise it is "owner/name:branch", which has to lie in get_dir().

    Raises FileNotFoundError if the folder or its hubconf.py does not exist, RuntimeError if the function does not exist
    or a package is missing.
    """
    with _hubconf(repo_or_dir, source) as module:
        return _entry(module, model)(*args, **kwargs)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Raise NotImplementedError: nothing is downloaded."""
    raise NotImplementedError(f"torch.hub: {url}: nothing is downloaded: {_HOW} to {dst}")


def load_state_dict_from_url(
    url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False
):
    """torch.load of a file in get_dir()/checkpoints. Raises NotImplementedError if it is not there."""
    from ..serialization import load as read

    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    path = os.path.join(folder, file_name or os.path.basename(url.partition("?")[0]))
    if not os.path.exists(path):
        raise NotImplementedError(f"torch.hub: {url} is not at {path}, and nothing is downloaded: {_HOW} to that path")
    return read(path, map_location=map_location, weights_only=weights_only)


__dir__ = _dir_of(__name__)
