"""``build`` writes a compiled function to a file for machines without a compiler: a shared object for C, PTX or a
cubin.
"""

import os
import re
import shutil
import subprocess
import tempfile

import numpy

from .. import _core, types
from ._function import Function, signatures_of

_C = {"b": "int8_t", "h": "int16_t", "i": "int32_t", "l": "int64_t", "q": "int64_t", "B": "uint8_t", "H": "uint16_t",
      "I": "uint32_t", "L": "uint64_t", "Q": "uint64_t", "f": "float", "d": "double", "?": "uint8_t"}  # fmt: skip
# What went wrong, by the kind number of td_report.
_KINDS = ("raise", "raise", "assert", "index out of range", "division by zero", "index overflow", "shapes do not fit",
          "reduction of nothing", "variable without a value", "not there", "calls too deep", "no memory",
          "index out of range", "no such key", "value", "changed while it is gone through", "no memory", "halt",
          "print")  # fmt: skip
_MAILBOX = 112  # bytes of the report that compiled code leaves when it fails

# The C functions that code for the CPU calls: memory for arrays, threads for independent iterations, a check whether
# to stop.
_RUNTIME = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef void run_piece(void *env, int64_t first, int64_t end, int64_t number);

typedef struct work {
    run_piece *fn;
    void *env;
    int64_t lo, hi, n, next;
} work;

static void *
run_work(void *ctx)
{
    work *w = ctx;
    int64_t size = (w->hi - w->lo) / w->n, more = (w->hi - w->lo) % w->n, k;

    while ((k = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->n) {
        int64_t first = w->lo + k * size + (k < more ? k : more);

        w->fn(w->env, first, first + size + (k < more), k);
    }
    return NULL;
}

HIDDEN int64_t td_run_pieces(run_piece *fn, void *env, int64_t lo, int64_t hi, int64_t most);

int64_t
td_run_pieces(run_piece *fn, void *env, int64_t lo, int64_t hi, int64_t most)
{
    work w = {fn, env, lo, hi, hi - lo < most ? hi - lo : most, 0};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t thread[64];
    int n = 0;

    if (lo >= hi)
        return 0;
    while (n < 63 && n + 1 < cpus && n + 1 < w.n && !pthread_create(&thread[n], NULL, run_work, &w))
        n++;
    run_work(&w);
    while (n > 0)
        pthread_join(thread[--n], NULL);
    return 0;
}

HIDDEN int64_t td_stop_look(void);

int64_t
td_stop_look(void)
{
    return 0; /* nothing asks this code to stop */
}

typedef struct block {
    struct block *next;
    char pad[56];
} block;

HIDDEN uint64_t td_callmem_take(uint64_t heap, int64_t nbytes);

uint64_t
td_callmem_take(uint64_t heap, int64_t nbytes)
{
    block **first = (block **)(uintptr_t)heap;
    block *b = nbytes < 0 ? NULL : aligned_alloc(64, ((size_t)nbytes + 127) / 64 * 64);

    if (!b)
        return 0;
    b->next = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(first, &b->next, b, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return (uint64_t)(uintptr_t)(b + 1);
}

static inline void
free_blocks(block *b)
{
    while (b) {
        block *next = b->next;

        free(b);
        b = next;
    }
}
"""


class _Call:
    """A function's parameters in C, and the C code that packs them into the words that compiled code takes."""

    def __init__(self, fn, args, about, name):
        self.name, self.params, self.pack, self.told, self.results = name, [], [], [], []
        for p, t in zip(fn.__code__.co_varnames, args, strict=False):
            self._take(p, t)
        self.about = about
        self._give(types.parse(about["result"] or "none"))

    def _take(self, name, t):
        if t.kind == "tuple":
            for k, item in enumerate(t.items):
                self._take(f"{name}_{k}", item)
        elif t.kind == "array":
            self._take_array(name, t)
        elif t.kind in ("int", "uint", "float", "complex", "bool"):
            self._take_number(name, t)
        elif t.kind != "none":
            raise TypeError(f"build: argument '{name}' is {t}, which has no form in C")

    def _take_number(self, name, t):
        parts = (f"{name}_re", f"{name}_im") if t.kind == "complex" else (name,)
        for part in parts:
            self.params.append((_c_type(t), part))
            self.pack.append(f"    memcpy(&w[{len(self.pack)}], &{part}, sizeof {part});")
        self.told.append(f"{', '.join(parts)}: {t}")

    def _take_array(self, name, t):
        item = t.items[0]
        strided = t.layout == "A" or item.kind == "record"
        words = [name, *(f"{name}_n{k}" for k in range(t.ndim))]
        words += [f"{name}_s{k}" for k in range(t.ndim)] if strided else []
        kind = "void" if item.kind in ("record", "complex") else _c_type(item)
        self.params.append((f"{kind} *", name))
        self.pack.append(f"    w[{len(self.pack)}] = (uint64_t)(uintptr_t){name};")
        for word in words[1:]:
            self.params.append(("int64_t", word))
            self.pack.append(f"    w[{len(self.pack)}] = (uint64_t){word};")
        unit = "bytes" if item.kind == "record" else "elements"
        order = f"strides in {unit} {name}_s…" if strided else "Fortran order" if t.layout == "F" else "C order"
        self.told.append(f"{name}: address of elements of {item}; extents {name}_n…; {order}")

    def _give(self, t, name="result"):
        if t.kind == "tuple":
            for k, item in enumerate(t.items):
                self._give(item, f"result_{k}")
        elif t.kind in ("int", "uint", "float", "complex", "bool"):
            for part in (f"{name}_re", f"{name}_im") if t.kind == "complex" else (name,):
                self.results.append((_c_type(t), part))
            self.told.append(f"{name}: takes the {t} that is returned")
        elif t.kind != "none":
            raise TypeError(f"build: the function returns {t}: have it write into an argument")

    # ---- text ----

    def prototype(self):
        params = [f"{c} {n}".replace("* ", "*") for c, n in self.params] + [f"{c} *{n}" for c, n in self.results]
        return f"int {self.name}({', '.join(params) or 'void'})"

    def explanation(self, gpu):
        lines = [*self.told]
        for line, kind, text in self.about["sites"]:
            code = self.about["sites"].index((line, kind, text)) + 1
            lines.append(f"{'mailbox' if gpu else 'returns'} {code}: {_KINDS[kind]} at line {line} {text}".rstrip())
        return "".join(f" * {line}\n" for line in lines).replace("*/", "* /").replace("\1", "%").replace("\2", " ")

    def source(self):
        hidden = {"mailbox": "box", "result": "got", "memory": "&heap"}
        unknown = set(self.about["hidden"]) - set(hidden)
        if "random state" in unknown:
            raise TypeError("build: the function draws random numbers, which a file cannot: make them an argument")
        if unknown:
            raise TypeError("build: the function uses an array of its globals: make it an argument")
        pack = [*self.pack]
        for kind in self.about["hidden"]:
            pack.append(f"    w[{len(pack)}] = (uint64_t)(uintptr_t){hidden[kind]};")
        give = [f"    memcpy({n}, &got[{k}], sizeof *{n});" for k, (_, n) in enumerate(self.results)]
        return "\n".join([
            f"void {self.name}__code(const uint64_t *w, int64_t bid, int64_t nblock) HIDDEN;", "",
            self.prototype(), "{",
            f"    uint64_t w[{len(pack) + 1}] = {{0}}, box[{_MAILBOX // 8}] = {{0}};",
            f"    uint64_t got[{len(self.results) + 1}] = {{0}};",
            "    block *heap = NULL;", "    uint32_t site;", "",
            *pack, f"    {self.name}__code(w, 0, 1);", "    free_blocks(heap);", "    memcpy(&site, box, sizeof site);",
            *(["    if (site)", "        return (int)site;", *give] if give else []), "    return (int)site;", "}", "",
        ])  # fmt: skip


def _c_type(t):
    d = numpy.dtype(t.dtype)
    if t.kind == "complex":
        return "float" if d.itemsize == 8 else "double"
    return _C.get(d.char, "uint16_t")  # 16-bit floats travel as their bits


def _header(path, text):
    guard = re.sub(r"\W", "_", os.path.basename(path)).upper()
    with open(path, "w") as f:
        f.write(f"#ifndef {guard}\n#define {guard}\n#include <stdint.h>\n\n{text}\n#endif\n")


def _names(name, rows):
    return [name] if len(rows) == 1 else [f"{name}_{k + 1}" for k in range(len(rows))]


def _shared_object(kernel, rows, path, name, parallel):
    calls, objects = [], []
    for own, args in zip(_names(name, rows), rows, strict=True):
        code, about = kernel._build(args, "object", f"{own}__code", None, not parallel)
        calls.append(_Call(kernel.py_func, args, about, own))
        objects.append(code)
    cc = shutil.which(os.environ.get("CC", "cc"))
    if cc is None:
        raise _core.MissingLibraryError(
            "build: a shared object is linked by this machine's C compiler, and there is none: install cc, or set CC"
        )
    with tempfile.TemporaryDirectory() as folder:
        parts = [f"{folder}/call.c"]
        with open(parts[0], "w") as f:
            f.write("#include <stdint.h>\n" + _RUNTIME + "\n" + "\n".join(c.source() for c in calls))
        for k, code in enumerate(objects):
            parts.append(f"{folder}/{k}.o")
            with open(parts[-1], "wb") as f:
                f.write(code)
        flags = ["-shared", "-fPIC", "-O2", "-pthread", "-Wl,--no-undefined", "-Wl,--as-needed"]
        run = [cc, *flags, "-o", path, *parts, "-lmvec", "-lm"]
        done = subprocess.run(run, capture_output=True, text=True)
    if done.returncode:
        raise _core.CompileError(f"build: {cc} says:\n{done.stderr}")
    head = "/* {}: returns 0, or what stopped it.\n *\n{} */\n{};\n"
    return [head.format(c.name, c.explanation(False), c.prototype()) for c in calls]


_WORDS = {
    "mailbox": f"the address of {_MAILBOX} zero bytes that host and device see; a failure writes its number there",
    "partials": "the address of {1} bytes for each block of the grid",
    "grid": "the address of 8 zero bytes, for the grid's barriers; it is launched cooperatively",
    "shared": "int64: bytes of the launch's dynamic shared memory",
    "result": "the address of {} bytes for what is returned",
}


def _gpu_code(kernel, rows, path, name, arch):
    stage = "ptx" if path.endswith(".ptx") else "cubin"
    if len(rows) > 1:
        raise ValueError(f"build: {path}: one signature a file of a GPU's code, not {len(rows)}")
    ptxas = stage == "cubin" and _core.device().host
    code, about = kernel._build(rows[0], "ptx" if ptxas else stage, name, arch)
    if ptxas:
        code = _assemble(code, arch)
    with open(path, "wb") as f:
        f.write(code)
    call = _Call(kernel.py_func, rows[0], about, name)
    if "array" in about["hidden"]:
        raise TypeError("build: the kernel uses an array of its globals: make it an argument")
    params = [f"{c} {n}".replace("* ", "*") for c, n in call.params]
    sizes = about["result_bytes"], 16 * about["partials"]
    hidden = [f"{k}: {_WORDS[k].format(*sizes)}" for k in about["hidden"]]
    text = "".join(f" * {line}\n" for line in (f"parameters, one each: {', '.join(params)}", *hidden))
    return [f'/* For {arch}.\n *\n{text}{call.explanation(True)} */\n#define {name.upper()}_NAME "{name}"\n']


def _assemble(ptx, arch):
    if not shutil.which("ptxas"):
        raise _core.DeviceError(
            "build: a GPU's driver or ptxas of the CUDA toolkit makes a cubin, and neither is here: write a .ptx"
        )
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/k.ptx", "wb") as f:
            f.write(ptx.rstrip(b"\0"))
        run = ["ptxas", f"-arch={arch}", "k.ptx", "-o", "k.cubin"]
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise _core.CompileError(f"build: ptxas says:\n{done.stderr}")
        with open(f"{folder}/k.cubin", "rb") as f:
            return f.read()


def build(kernel, signatures, path, arch=None, name=None, parallel=True):
    """Write a compiled function to a file, and beside it a C header that declares it.

    Parameters
    ----------
    kernel : compiled function
        What jit or cuda.jit made.
    signatures : str, signature or list of them
        Types of the parameters; several make functions name_1, name_2 and so on.
    path : str or path
        ".so": a jit function's shared object for this machine's kind of CPU, which a C compiler links here; ".ptx" and
        ".cubin": a kernel or a jit function for a GPU.
    arch : str, optional
        The GPU, as "sm_90"; None means the current device's, else sm_80.
    name : str, optional
        Name of the C function; None means the function's own.
    parallel : bool, default True
        Independent loops of a ".so" run on all cores.

    Returns
    -------
    str or path
        The path.

    Raises
    ------
    TypeError
        A signature has no form in C.
    ValueError
        The path ends otherwise.
    DeviceError, MissingLibraryError
        What is needed to write the file is not here.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "square.ptx")
    >>> double = np.jit(lambda x: x * x)
    >>> open(np.build(double, "float64(float64)", path, name="square")).read().count("square") > 0
    True
    """
    if not isinstance(kernel, Function):
        raise TypeError(f"build: a function that jit or cuda.jit made, not {type(kernel).__name__}")
    rows, path, name = signatures_of(signatures), os.fspath(path), name or kernel.__name__
    end = os.path.splitext(path)[1]
    if not rows or not name.isidentifier():
        raise ValueError(f"build: {name!r} has {len(rows)} signatures; a C name and at least one are needed")
    if end == ".so" and kernel._core_options.get("mode") == 0:
        raise TypeError(f"build: {name} is a kernel of threads: it goes into a .ptx or a .cubin, not into a .so")
    if end == ".so":
        told = _shared_object(kernel, rows, path, name, parallel)
    elif end in (".ptx", ".cubin"):
        own = _core.device().arch
        told = _gpu_code(kernel, rows, path, name, arch or (own if own.startswith("sm_") else "sm_80"))
    else:
        raise ValueError(f"build: {path}: the ending is .so, .ptx or .cubin")
    header = path[: -len(end)] + ".h"
    _header(header, "\n".join(told))
    return header
