"""``torch.utils.model_zoo``: torch.hub by an older name."""

from .. import _modules
from ..hub import load_state_dict_from_url as load_url
from ..hub import tqdm as tqdm

__all__ = ["load_url"]


__getattr__, __dir__ = _modules.refusing("torch.utils.model_zoo")
