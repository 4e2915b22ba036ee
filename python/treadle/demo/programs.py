"""Finding the programs of `examples/` and loading one text on either side.

A program is an ordinary NumPy file that says `import treadle as np`, or one with kernels, which
takes those from treadle besides. It defines

    docstring      a title, an empty line, what there is to see
    SIZES          keyword arguments of setup, for "cpu", "cuda" and "small" (the tests)
    TOLERANCE, WHY the largest error that is accepted, and the reason for it
    setup(**size)  the arguments of main; not timed; random input is drawn by NumPy itself here
    main(*args)    a dict of results, arrays or numbers; timed
    reference(*args)       optional: the same in NumPy, where main is no NumPy program
    error(ours, numpys)    optional: one number from two results; default `largest_error`
    pictures(result)       optional: a dict of uint8 pictures, or lists of frames

All results reach `error` and `pictures` as NumPy arrays.
"""

import ast
import pathlib
import types

import numpy

# In the order in which the demonstration runs them.
NAMES = (
    "matmul",
    "vector_addition",
    "black_scholes",
    "kmeans",
    "mandelbrot",
    "heat",
    "monte_carlo_pi",
    "image_filters",
    "kernels/vector_add",
    "kernels/shared_matmul",
    "kernels/warp_reduction",
    "kernels/overlap",
    "kernels/device_random",
    "kernels/life",
    "raw/doubling",
    "raw/indexing",
    "raw/tiled_product",
    "raw/transpose",
    "raw/convolution",
    "raw/life",
    "raw/histogram",
    "raw/constant_memory",
    "raw/streams",
    "raw/photograph",
)

# Ordinary PyTorch programs, which run as they stand (torch_programs.py).
TORCH = ("torch/digits_classifier",)

# Where there is no GPU these come first, the quickest before all: a CPU shows what it can in them.
CPU_FIRST = ("monte_carlo_pi", "heat", "black_scholes", "mandelbrot", "image_filters", "kmeans")

# These show what a GPU adds: its memory beside the host's, streams, blocks of threads that share memory.
FOR_GPU = frozenset(
    "vector_addition kernels/overlap kernels/shared_matmul kernels/warp_reduction kernels/life raw/doubling "
    "raw/tiled_product raw/transpose raw/convolution raw/life raw/histogram raw/streams".split()
)

# The times of these include copies to the device and back, which NumPy does not make.
WITH_COPIES = frozenset("vector_addition kernels/overlap raw/streams".split())

# These start processes of their own and are run as a whole.
APART = ("distributed/covariance",)

ALL = NAMES + TORCH

# Modules that only some programs need, and the package that provides each.
PACKAGES = {"sklearn": "scikit-learn", "skimage": "scikit-image"}


def in_order(names, on_gpu):
    """The names in the order of the demonstration. Without a GPU, programs that suit a CPU come first, those for a GPU
    last."""
    if on_gpu:
        return list(names)
    first = [n for n in CPU_FIRST if n in names]
    rest = [n for n in names if n not in first]
    return first + sorted(rest, key=lambda n: n in FOR_GPU)


def remark(name, ratio, on_gpu):
    """A remark for the reader of a row: whom the program is for, what its time includes. "" for none."""
    said = []
    if name in FOR_GPU and not on_gpu:
        said.append("written for a GPU")
    if name in WITH_COPIES and ratio is not None and ratio < 1:
        said.append("slower: its copies to the device and back are counted")
    return "; ".join(said)


def folder():
    """The folder of programs: `treadle/examples` where installed, else `examples` of the repository."""
    here = pathlib.Path(__file__).resolve()
    for place in (here.parents[1] / "examples", here.parents[3] / "examples"):
        if (place / f"{NAMES[0]}.py").exists():
            return place
    raise FileNotFoundError(f"no examples beside {here.parents[1]}: reinstall treadle")


class _Rebind(ast.NodeTransformer):
    """Replaces every `import treadle` by an import of another module under the same name."""

    def __init__(self, module):
        self.module = module

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name == "treadle":
                alias.asname = alias.asname or "treadle"
                alias.name = self.module
        return node


def load(name, module="treadle"):
    """The program as a module object whose `import treadle as np` has imported `module`.

    Kernels are treadle's whatever the module is."""
    path = folder() / f"{name}.py"
    tree = _Rebind(module).visit(ast.parse(path.read_text(encoding="utf-8"), str(path)))
    program = types.ModuleType(f"treadle.examples.{name.replace('/', '.')}")
    program.__file__ = str(path)
    exec(compile(tree, str(path), "exec"), vars(program))
    return program


def title_of(name):
    """The title of a program that has not been loaded."""
    text = (folder() / f"{name}.py").read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(text)).splitlines()[0]


def title(program):
    """The docstring's first line."""
    return program.__doc__.strip().splitlines()[0]


def story(program):
    """The docstring's paragraphs after the title, each on one line."""
    paragraphs = program.__doc__.strip().split("\n\n")[1:]
    return [" ".join(p.split()) for p in paragraphs]


def largest_error(ours, numpys):
    """The largest difference of any element, over the largest magnitude of its array.

    Infinite where names, shapes or kinds of dtype differ or either result is not finite.
    """
    if ours.keys() != numpys.keys():
        return float("inf")
    worst = 0.0
    for key, right in numpys.items():
        left, right = numpy.asarray(ours[key]), numpy.asarray(right)
        if left.shape != right.shape or left.dtype.kind != right.dtype.kind:
            return float("inf")
        if not (numpy.isfinite(left).all() and numpy.isfinite(right).all()):
            return float("inf")
        if right.size:
            difference = numpy.abs(left.astype(numpy.float64) - right).max()
            worst = max(worst, float(difference / (numpy.abs(right).max() or 1)))
    return worst
