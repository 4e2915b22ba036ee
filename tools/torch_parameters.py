"""torch_parameters.py PYTORCH > tests/python/torch_parameters.txt - the parameters of torch's functions and of tensors'
methods, from the stubs of the PyTorch in the folder PYTORCH: a line for each form, `*` before those by keyword only."""

import ast
import pathlib
import sys

# What the stubs say and PyTorch's functions do not take, and what only its GPU has.
NOT_TAKEN = {
    "Tensor": {"apply_", "map_", "new", "requires_grad_"},
    "torch": {"linspace", "logspace", "where", "searchsorted"},
}
LEFT_OUT = {"out_dtype", "names", "implicit"}
NO_OUT = {"add", "floor_divide", "mul", "sub", "true_divide"}


def forms(body, method):
    for f in body:
        if isinstance(f, ast.FunctionDef) and not f.name.startswith("_"):
            a = f.args
            places = [p.arg for p in a.posonlyargs + a.args][method:]
            if a.vararg:
                places.append(a.vararg.arg.lstrip("_"))
            yield f.name, places, [p.arg for p in a.kwonlyargs]


def main(folder):
    print("# Written by tools/torch_parameters.py from PyTorch's stubs (torch/_C): a line for each form of a function.")
    methods = next(
        n.body
        for n in ast.parse((folder / "_C/__init__.pyi").read_text()).body
        if isinstance(n, ast.ClassDef) and n.name == "TensorBase"
    )
    functions = ast.parse((folder / "_C/_VariableFunctions.pyi").read_text()).body
    for prefix, body in ("Tensor", methods), ("torch", functions):
        for name, places, others in forms(body, prefix == "Tensor"):
            if name in NOT_TAKEN[prefix] or LEFT_OUT & {*places, *others}:
                continue
            if prefix == "Tensor" and name in NO_OUT:
                others = [o for o in others if o != "out"]
            print(f"{prefix}.{name}", *places, *(["*", *others] if others else []))


main(pathlib.Path(sys.argv[1]))
