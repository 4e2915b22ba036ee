"""The bytes of a tensor's elements in files, and the names that PyTorch's pickles have for dtypes."""

import numpy

from ... import torch

# Storage classes in PyTorch's pickles, and the dtypes of their elements.
STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
}
_CLASS_OF = {dtype: name for name, dtype in STORAGES.items()}


def tensor_bytes(tensor):
    """The elements in C order as NumPy's bytes."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    if flat.dtype == torch.bfloat16:
        flat = flat.view(torch.int16)
    return numpy.ascontiguousarray(flat.numpy()).view(numpy.uint8)


def _kind(dtype):
    """NumPy's dtype of a dtype's elements in a file."""
    return numpy.dtype("int16" if dtype == "bfloat16" else dtype)


def tensor_of(data, dtype, shape, order="<"):
    """A tensor from its bytes. order: their byte order, as NumPy spells it."""
    array = numpy.frombuffer(data, _kind(dtype).newbyteorder(order)).astype(_kind(dtype))
    flat = torch.from_numpy(array)
    return (flat.view(torch.bfloat16) if dtype == "bfloat16" else flat).reshape(shape)
