"""What the build reads of ops.def and reduce.def, and what it refuses."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import def_tables  # noqa: E402
import formulas  # noqa: E402
import op_tables  # noqa: E402

sys.path.remove(str(ROOT / "tools"))
OPS = def_tables.ops(ROOT / "src/ir/core/ops.def")
ARITIES = {o.name: o.arity for o in OPS}


def row(**columns):
    """The row of hypot with other columns."""
    (o,) = (o for o in def_tables.ops(ROOT / "src/ir/core/ops.def") if o.name == "hypot")
    vars(o).update(columns)
    return o


def test_rows_are_read_as_c_reads_them(tmp_path):
    from treadle import _core

    assert [(o.name, o.arity, o.kinds, o.meaning) for o in OPS] == _core.ops()
    assert {o.name: o.derivative for o in OPS} == _core.derivatives()[0]
    file = tmp_path / "t.def"
    file.write_text('/* R(no) */\nR(a, "x, y"\n  " z", F(1, 2)) /* "c" */\nR(b, "", 3)\n')
    assert list(def_tables.rows(file, "R")) == [["a", "x, y z", "F(1, 2)"], ["b", "", "3"]]
    file.write_text("R(a, 1\n")
    with pytest.raises(SystemExit, match="does not end"):
        list(def_tables.rows(file, "R"))


@pytest.mark.parametrize(
    "text, why",
    [
        ("g", "1 formulas for 2 operands"),
        ("g * z | g", "there is no z"),
        ("g * sine(x) | g", "'sine' is no row"),
        ("g * hypot(x) | g", "hypot takes 2 operands, not 1"),
        ("g * (x | g", r"'\)' is missing"),
        ("g * | g", "a value is missing"),
        ("g x | g", "'x' is left over"),
        ("g $ x | g", "cannot be read"),
        ("g * exp(y) | g", "applied to numbers alone"),
        ("g * sum(x) | g", "'sum' is no row"),
        ("+".join(["g"] * 17) + " | g", "33 steps are more than 32"),
    ],
)
def test_derivatives_that_end_the_build(text, why):
    with pytest.raises(SystemExit, match=why):
        formulas.of_row(row(derivative=text), ARITIES)


def test_code_of_a_derivative():
    f, step = formulas.of_row(row(derivative="g * -x ** 2 + 1j | 0"), ARITIES)
    assert f.steps == [("name", "g"), ("name", "x"), ("number", "2"), ("call", "power"), ("call", "negative"),
                       ("call", "multiply"), ("number", "1j"), ("call", "add")]  # fmt: skip
    assert (f.kind, f.uses, step.kind) == ("CODED", {"g", "x"}, "ZERO")


@pytest.mark.parametrize(
    "columns, why",
    [
        ({"names": ["pytorch.hypot"]}, "no face"),
        ({"names": ["numpy.add"]}, "is the name of add and of hypot"),
        ({"exactness": "few"}, "no numbers"),
        ({"exactness": "4 | 8"}, "goes with 'c'"),
        ({"domain": "0 to 1"}, "no numbers"),
        ({"errors": "nn"}, "not"),
    ],
)
def test_columns_that_end_the_build(columns, why):
    op_tables.check(OPS)
    with pytest.raises(SystemExit, match=why):
        op_tables.check([o for o in OPS if o.name != "hypot"] + [row(**columns)])


def test_operations_are_timed_beside_their_meaning():
    """benchmarks/operations.py takes its rows from the table: one of each kind, and a name that there is not."""
    program = [sys.executable, str(ROOT / "benchmarks/operations.py"), "--elements", "64"]
    names = ["log1mexp", "lgamma", "select", "mulhi", "logical_and", "scale"]
    done = subprocess.run([*program, *names], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [line[0] for line in lines] == names and all(float(line[2]) > 0 for line in lines)
    assert {line[0] for line in lines if line[3] == "-"} == {"lgamma", "mulhi"}
    done = subprocess.run([*program, "sine"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no operation is called sine" in done.stderr


@pytest.mark.parametrize("text", ["nanosleep", "nanosleep(ns)", "nanosleep(ns) -> None", "nanosleep(1) -> None | Sleeps."])
def test_an_instruction_is_called_as_its_row_says(text):
    core = [["nanosleep", "n", "0", text]]
    assert list(op_tables.instructions([["nanosleep", "n", "0", "nanosleep(ns) -> None | Sleeps."], ["clock", "", "1", ""]])) == [
        'FN(fn_instruction, OP_nanosleep, "cuda.nanosleep")'
    ]
    with pytest.raises(SystemExit, match="core.def: nanosleep"):
        list(op_tables.instructions(core))
