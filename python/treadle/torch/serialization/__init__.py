"""``torch.save`` and ``torch.load``: PyTorch's files (a zip archive of a pickle and tensors' bytes) and safetensors.

PyTorch reads what treadle writes, and the other way round. Loading accepts only tensors and plain values unless
``weights_only=False``, because a pickle can run any code.
"""

from .. import _modules
from ._elements import STORAGES, tensor_bytes, tensor_of
from ._globals import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    get_unsafe_globals_in_checkpoint,
    safe_globals,
)
from ._read import load
from ._safetensors import load_safetensors, save_safetensors
from ._settings import (
    LoadEndianness,
    PyTorchFileReader,
    SourceChangeWarning,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
)
from ._write import save

for _shown in (PyTorchFileReader, load, save):
    _shown.__module__ = __name__  # torch shows them, too; their home is here
del _shown

__getattr__, __dir__ = _modules.refusing("torch.serialization")
