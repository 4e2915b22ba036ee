/* typespell.c - the text of a type, as treadle.types reads it. */
#include "python/kernel/kernel.h"

static void
spell(td_text *out, const td_type *t)
{
    switch ((td_tkind)t->kind) {
    case TD_T_NUM:  td_text_addf(out, "%s", td_dtype_name((td_dtype)t->dt)); return;
    case TD_T_NONE: td_text_addf(out, "none"); return;
    case TD_T_TUPLE:
        td_text_addf(out, "Tuple(");
        for (uint32_t i = 0; i < t->n; i++) {
            td_text_addf(out, "%s", i ? ", " : "");
            spell(out, t->item[i]);
        }
        td_text_addf(out, ")");
        return;
    case TD_T_ARRAY:
        td_text_addf(out, "Array(");
        spell(out, t->item[0]);
        td_text_addf(out, ", %d, '%c'%s)", t->ndim, t->layout,
                     t->readonly ? ", readonly=True" : "");
        return;
    default: break;
    }
    td_text_addf(out, "%s", t->name);
}

PyObject *
py_types_spell(const td_type *const *type, uint32_t n)
{
    PyObject *r = PyTuple_New((Py_ssize_t)n);

    for (uint32_t i = 0; r && i < n; i++) {
        td_text text = {0};
        PyObject *s;

        spell(&text, type[i]);
        s = PyUnicode_FromString(text.s ? text.s : "");
        td_text_free(&text);
        if (!s || PyTuple_SetItem(r, (Py_ssize_t)i, s) < 0)
            Py_CLEAR(r);
    }
    return r;
}
