"""Write treadle_tables.h, the C API's enums, from the tables of the core.

Usage: api_tables.py OUT dtypes.def ops.def reduce.def"""
import pathlib
import re
import sys

HEAD = """/* treadle_tables.h - dtypes, elementwise operations and reductions; part of treadle.h.
 *
 * The values of enumerators belong to one version of the library; names stay (treadle_op_find).
 */
#ifndef TREADLE_TABLES_H
#define TREADLE_TABLES_H
"""


def rows(path, macro):
    """The arguments of each row, strings without their quotes."""
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(path).read_text(), flags=re.S)
    for line in re.findall(rf"^{macro}\((.*)\)\s*$", text, flags=re.M):
        yield [a.strip().strip('"') for a in re.findall(r'\s*("[^"]*"|[^,]+)', line)]


def counted(n, what):
    return f"{n} {what}" if n == "1" else f"{n} {what}s"


def enum(name, entries):
    width = max(len(e) for e, _ in entries)
    body = "".join(f"    {e + ',':<{width + 1}} /* {what} */\n" for e, what in entries)
    return f"\ntypedef enum {name} {{\n{body}}} {name};\n"


def main(out, dtypes, ops, reductions):
    text = HEAD
    text += enum("treadle_dtype", [("TREADLE_DTYPE_DEFAULT", "NumPy's choice, where one is left to the library")] + [
        (f"TREADLE_{name.upper()}", counted(size, "byte")) for _, name, size, *_ in rows(dtypes, "DT")])
    text += enum("treadle_op", [
        (f"TREADLE_OP_{row[0]}", f"{counted(row[1], 'operand')}: {row[5]}") for row in rows(ops, "OP")])
    text += enum("treadle_red", [(f"TREADLE_RED_{row[0]}", row[4]) for row in rows(reductions, "RED")])
    pathlib.Path(out).write_text(text + "\n#endif\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
