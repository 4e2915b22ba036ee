"""torch_parameters.py PYTORCH > tests/python/torch_parameters.txt - the parameters of torch's functions, of tensors'
methods and of torch.nn's functions and modules, from the stubs and sources of the PyTorch in the folder PYTORCH: a line
for each form, `*` before those by keyword only."""

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


def line(name, places, others):
    print(name, *places, *(["*", *others] if others else []))


def of_torch(folder):
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
            line(f"{prefix}.{name}", places, others)


def of_nn(folder):
    body = ast.parse((folder / "nn/functional.py").read_text()).body
    written = {f.name for f in body if isinstance(f, ast.FunctionDef)}
    builtin = [f for f in ast.parse((folder / "_C/_nn.pyi").read_text()).body if getattr(f, "name", "") not in written]
    for name, places, others in forms(body + builtin, False):
        line(f"nn.functional.{name}", places, others)
    classes = {}
    for file in sorted((folder / "nn/modules").glob("*.py")):
        classes |= {c.name: c for c in ast.parse(file.read_text()).body if isinstance(c, ast.ClassDef)}

    def method(c, name):
        own = next((f for f in c.body if isinstance(f, ast.FunctionDef) and f.name == name), None)
        bases = (classes[b.id] for b in c.bases if isinstance(b, ast.Name) and b.id in classes)
        return own or next((found for b in bases if (found := method(b, name))), None)

    for name, c in sorted(classes.items()):
        forward = not name.startswith("_") and method(c, "forward")
        if forward and not forward.args.vararg:
            ((_, places, _),) = forms([forward], True)
            line(f"nn.{name}.forward", places, [])


folder = pathlib.Path(sys.argv[1])
print("# Written by tools/torch_parameters.py from PyTorch's stubs and sources: a line for each form of a function.")
of_torch(folder)
of_nn(folder)
