"""Write treadle_tables.h, the C API's enums, from the tables of the core.

Usage: api_tables.py OUT dtypes.def ops.def reduce.def"""
import pathlib
import sys

import def_tables

HEAD = """/* treadle_tables.h - dtypes, elementwise operations and reductions; part of treadle.h.
 *
 * The values of enumerators belong to one version of the library; names stay (treadle_op_find).
 */
#ifndef TREADLE_TABLES_H
#define TREADLE_TABLES_H
"""


def counted(n, what):
    return f"{n} {what}" if n == "1" else f"{n} {what}s"


def enum(name, entries):
    width = max(len(e) for e, _ in entries)
    body = "".join(f"    {e + ',':<{width + 1}} /* {what} */\n" for e, what in entries)
    return f"\ntypedef enum {name} {{\n{body}}} {name};\n"


def main(out, dtypes, ops, reductions):
    text = HEAD
    text += enum("treadle_dtype", [("TREADLE_DTYPE_DEFAULT", "NumPy's choice, where one is left to the library")] + [
        (f"TREADLE_{name.upper()}", counted(size, "byte")) for _, name, size, *_ in def_tables.rows(dtypes, "DT")])
    text += enum("treadle_op", [
        (f"TREADLE_OP_{o.name}", f"{counted(str(o.arity), 'operand')}: {o.meaning}") for o in def_tables.ops(ops)])
    text += enum("treadle_red", [(f"TREADLE_RED_{row[0]}", row[4]) for row in def_tables.rows(reductions, "RED")])
    pathlib.Path(out).write_text(text + "\n#endif\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
