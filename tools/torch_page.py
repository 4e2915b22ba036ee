"""Writes the parts of docs/torch.md that say which of PyTorch's names treadle.torch has.

With --names, run by a Python that has PyTorch, it writes PyTorch's names to tests/python/torch_names.txt. With --check
it writes nothing, and fails where the page is old.
"""

import importlib
import pathlib
import re
import sys
import textwrap
import types

import page_tables

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "torch.md"
NAMES = ROOT / "tests" / "python" / "torch_names.txt"
MODULES = "torch Tensor autograd autograd.functional cuda distributions fft func linalg random special testing".split()

# What PyTorch keeps for itself, for other devices' libraries, for its compiler, and for quantised and sparse tensors.
INSIDE = re.compile(
    r"cudnn_|miopen_|mkldnn|fbgemm|quantize|q_|qint|quint|qscheme|sym_|sparse|autocast_|.*_autocast|per_(channel|tensor)|"
    r"native_(batch|group|layer|norm|channel|dropout)|batch_norm_|fake_|fused_|choose_q|.*(Type|Storage|Proxy)$|Script|import_ir|parse_|"
    r"(u?int[1-7]|bits\w*|float[48]_\w*|bit|bcomplex32|complex32|chalf)$|values|(ccol|col|crow|row)_indices|indices|"
    r"(hs|ss|sp|s|ds)mm|hspmm|saddmm|sspaddmm|is_(xla|xpu|ipu|maia|mps|mtia|vulkan|mkldnn)|(xpu|ipu|mtia|xla)$|_|"
    r"(common|factory)_(args|notes)|multi_dim_common|torch$|Any$|Optional|Callable|NewType|Enum$|TYPE_CHECKING|classproperty|lru_cache|"
    r"cast$|overload|[A-Z]\w*(Error|Exception|Logger|Base|Graph|Dict|List|Guard|Key|KeySet|Context|Pool|Allocator)$"
)
CLASSES = set(
    "Tensor Size Generator Stream Event Function Variable GradScaler autocast dtype device finfo iinfo".split()
)


def public(module):
    """The names of PyTorch's module that programs use."""
    import torch

    there = (
        torch.Tensor
        if module == "Tensor"
        else importlib.import_module("torch" if module == "torch" else f"torch.{module}")
    )
    for name in sorted(dir(there)):
        value = getattr(there, name, None)
        inside = (
            isinstance(value, type)
            and name[0].isupper()
            and name not in CLASSES
            and not name.endswith("Tensor")
            and module != "distributions"
        )
        if not INSIDE.match(name) and not isinstance(value, types.ModuleType) and not inside:
            yield name


def write_names():
    NAMES.write_text("".join(f"{module}: {' '.join(public(module))}\n" for module in MODULES))


def names():
    """{module: PyTorch's names}."""
    return {m: rest.split() for m, _, rest in (line.partition(": ") for line in NAMES.read_text().splitlines())}


def status(module, name):
    """native: the core's own; composed: of such; missing."""
    import treadle.torch as torch
    from treadle import _core

    there = (
        torch
        if module == "torch"
        else torch.Tensor
        if module == "Tensor"
        else importlib.import_module(f"treadle.torch.{module}")
    )
    if not hasattr(there, name):
        return "missing"
    row = torch._elementwise.ROWS.get(name.rstrip("_")) or torch._elementwise.ROWS_OF_TWO.get(name.rstrip("_"))
    ours = vars(_core.Tensor).get(name)
    own = isinstance(ours, (type(_core.Tensor.exp), type(_core.Tensor.grad)))
    return "native" if module in ("torch", "Tensor") and (row or own) else "composed"


def table(module):
    """The page's part of a module: its names by status."""
    every = names()[module]
    lines, kinds = [], {n: status(module, n) for n in every}
    for kind in ("native", "composed", "missing"):
        found = [n for n in every if kinds[n] == kind]
        if found:
            lines += [textwrap.fill(f"**{kind}** ({len(found)}): " + ", ".join(f"`{n}`" for n in found), 118), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    if "--names" in sys.argv:
        sys.exit(write_names())
    page_tables.write(PAGE, table)
