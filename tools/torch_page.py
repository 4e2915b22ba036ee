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
PROGRAMS = ROOT / "tools" / "torch_programs" / "results.tsv"
NAMES = ROOT / "tests" / "python" / "torch_names.txt"
# Modules whose names are found by looking: they say of no name that it is public, or of too many.
LOOKED = """torch Tensor cuda distributions linalg special testing nn nn.functional nn.utils.prune backends.cudnn
backends.mkl backends.mkldnn backends.openmp backends.opt_einsum distributed distributed.checkpoint utils
utils.benchmark utils.model_zoo quasirandom""".split()
# Of these no names are listed: parts of PyTorch's own, and what serves other devices or is refused whole.
UNLISTED = re.compile(
    r"ao|fx|onnx|export|package|nested|masked|quantization|contrib|jit\.|nativert|headeronly|monitor|numa|"
    r"testing\.|xpu\.|mtia\.|mps\.|backends\.(miopen|xeon|xnnpack|quantized|kleidiai|mha|python_native|cudnn\.|cusparselt|"
    r"nnpack)|"
    r"compiler\.|cuda\.(gds|green|graph_ann|jiterator|nccl|sparse|tunable|amp\.common|graphs|streams)|"
    r"distributed\.(algorithms\.(ddp_comm_hooks\.|model)|argparse|autograd|c10d_logger|collective_utils|config|constants|debug|"
    r"distributed_c10d|elastic|flight|launch|log|nn|optim|pipelining|remote|rendezvous|rpc|run|tensor\.|utils|"
    r"checkpoint\.|fsdp\.)|"
    r"nn\.(attention\.(varlen|experimental)|backends|common|cpp|grad|intrinsic|modules\.linear_cross|qat|quant|parallel\.)|"
    r"nn\.utils\.(convert|init)|optim\.functional|profiler\.|autograd\.(profiler_|variable|anomaly|gradcheck)|"
    r"utils\.(backcompat|collect_env|mkldnn|backend_r|benchmark\.|bundled|cpp|data\.(backward|datapipes|graph)|debug_log|file_|hipify|jit|mobile|"
    r"model_dump|show_|serialization|throughput|viz|weak|flop|module_tracker|tensorboard|bottleneck)|"
    r"multiprocessing\.|accelerator\.|torch_version|functional$|foreach|signal$|signal\.windows\.|return_types|types$|version$|linalg\.|"
    r"amp\.|cpu\.amp\.|cuda\.amp\.|sparse\.semi"
)
NEED_MORE = {"utils.tensorboard": ["FileWriter", "SummaryWriter"]}  # modules that need a package to be imported
MEMBERS = {"Tensor": "Tensor"}  # classes whose members are listed

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


def theirs(module):
    """PyTorch's module (or class) of that name."""
    import torch

    if module in MEMBERS:
        return torch.Tensor
    return importlib.import_module("torch" if module == "torch" else f"torch.{module}")


def looked(module):
    """The names of PyTorch's module that programs use."""
    there = theirs(module)
    for name in sorted(dir(there)):
        value = getattr(there, name, None)
        inside = (
            isinstance(value, type)
            and name[0].isupper()
            and name not in CLASSES
            and not name.endswith("Tensor")
            and module in ("torch", "Tensor", "cuda", "linalg", "special", "testing")
        )
        home = getattr(value, "__module__", None) or "torch"
        foreign = isinstance(home, str) and not home.startswith("torch") and module != "torch" and not inside
        if not (INSIDE.match(name) or isinstance(value, types.ModuleType) or inside or (foreign and callable(value))):
            yield name


def modules():
    """PyTorch's public modules, those of UNLISTED left out."""
    import pkgutil

    import torch

    yield from ("torch", "Tensor")
    skipped = re.compile(rf"torch\.({UNLISTED.pattern}|.*\b_|_)")
    found = pkgutil.walk_packages(torch.__path__, "torch.", onerror=lambda name: None)
    yield from sorted({m.name.removeprefix("torch.") for m in found if not skipped.match(m.name)})


def public(module):
    """The names that PyTorch's module says are public, or those that are found by looking."""
    told = getattr(theirs(module), "__all__", None)
    kept = looked(module) if module in LOOKED or not told else sorted(set(told))
    return [n for n in kept if not n.startswith("_")]


def write_names():
    lines = [*((module, public(module)) for module in modules()), *NEED_MORE.items()]
    NAMES.write_text("".join(f"{module}: {' '.join(found)}\n" for module, found in lines if found))


def names():
    """{module: PyTorch's names}."""
    return {m: rest.split() for m, _, rest in (line.partition(": ") for line in NAMES.read_text().splitlines())}


def ours(module):
    """treadle's module (or class) for one of PyTorch's; None: there is none."""
    import treadle.torch as torch

    if module in MEMBERS:
        return torch.Tensor
    try:
        return torch if module == "torch" else importlib.import_module(f"treadle.torch.{module}")
    except ModuleNotFoundError:
        return None


def status(module, name):
    """(native: the core's own; composed: of such; refused; missing), and the reason of a refusal or None."""
    import treadle.torch as torch
    from treadle import _core
    from treadle.torch import _modules, _names

    there = ours(module)
    why = _names.reason(module if module == "torch" else f"torch.{module}", name)
    value = getattr(there, name, _NONE)
    if value is _NONE or isinstance(value, _modules.Refused) or getattr(value, "_refused", False):
        return ("refused" if why else "missing"), why
    row = torch._elementwise.ROWS.get(name.rstrip("_")) or torch._elementwise.ROWS_OF_TWO.get(name.rstrip("_"))
    own = isinstance(vars(_core.Tensor).get(name), (type(_core.Tensor.exp), type(_core.Tensor.grad)))
    return ("native" if module in ("torch", "Tensor") and (row or own) else "composed"), None


_NONE = object()


def group(section):
    """The modules of a section of the page: those of the name, and of packages below it."""
    return [m for m in names() if m == section or m.startswith(section + ".")]


def table(section):
    """The page's part of a section: the names that are here by status, and a table of those that are refused."""
    lines, refused, modules = [], {}, group(section)
    for module in modules:
        every = {n: status(module, n) for n in names()[module]}
        for kind in ("native", "composed", "missing"):
            found = [n for n in every if every[n][0] == kind]
            if found:
                told = f"`{module}`, " if len(modules) > 1 else ""
                text = f"{told}**{kind}** ({len(found)}): " + ", ".join(f"`{n}`" for n in found)
                lines += [textwrap.fill(text, 118, break_on_hyphens=False), ""]
        for n, (kind, why) in every.items():
            if kind == "refused":
                refused.setdefault(why, []).append(f"`{module}.{n}`" if len(modules) > 1 else f"`{n}`")
    if refused:
        lines += ["| refused | why, and what there is |", "| --- | --- |"]
        lines += [
            f"| {', '.join(_short(found))} | {why.replace('|', chr(92) + '|')} |" for why, found in refused.items()
        ]
        lines += [""]
    return "\n".join(lines)


def _short(found):
    """A list of refused names; of a long one the first and the last."""
    return found if len(found) <= 40 else [*found[:20], f"… ({len(found)} in all)", found[-1]]


def whole():
    """The page's part of the modules that are refused whole."""
    from treadle.torch import _names

    lines = ["| refused | why, and what there is |", "| --- | --- |"]
    rows = {}
    for module, reasons in _names.REFUSED.items():
        if "*" in reasons and ours(module.removeprefix("torch.")).__class__.__name__ == "_Refused":
            rows.setdefault(reasons["*"], []).append(f"`{module}`")
    return "\n".join([*lines, *(f"| {', '.join(found)} | {why} |" for why, found in rows.items()), ""])


def share():
    """How many names there are, and how many of them are here or refused."""
    kinds = [status(m, n)[0] for m, ns in names().items() for n in ns]
    here = sum(k in ("native", "composed") for k in kinds)
    return (
        f"Of {len(kinds)} names in {len(names())} modules {here} are here ({here / len(kinds):.0%}), "
        f"{kinds.count('refused')} are refused and {kinds.count('missing')} missing.\n"
    )


def programs():
    """The page's table of public programs, from what tools/torch_programs/run.py found."""
    found = {}
    for line in PROGRAMS.read_text().splitlines():
        repo, name, steps, near, far, said = line.split("\t")
        text = f"{name}: {near}" + (f" (float64: {far})" if far else "")
        found.setdefault(repo, []).append(text if not said else f"{name}: {said}")
    lines = ["| repository | programs, and the distance of their losses |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {repo} | {'; '.join(texts)} |" for repo, texts in found.items()), ""])


if __name__ == "__main__":
    if "--names" in sys.argv:
        sys.exit(write_names())
    own = {"whole": whole, "share": share, "programs": programs}
    page_tables.write(PAGE, lambda section: own.get(section, lambda: table(section))())
