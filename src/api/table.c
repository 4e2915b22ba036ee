/* table.c - errors, versions, and readings of the tables. */
#include "api/api.h"

#include "array/graph/reduce.h"
#include "jit/jit.h"

#include <string.h>

const char *
treadle_error(void)
{
    return td_error();
}

const char *
treadle_status_name(treadle_status st)
{
#define NAME(s)                                                                                    \
    case s: return #s
    switch (st) {
        NAME(TREADLE_OK);
        NAME(TREADLE_ERR_NOMEM);
        NAME(TREADLE_ERR_OOM);
        NAME(TREADLE_ERR_TYPE);
        NAME(TREADLE_ERR_VALUE);
        NAME(TREADLE_ERR_INDEX);
        NAME(TREADLE_ERR_OVERFLOW);
        NAME(TREADLE_ERR_DEVICE);
        NAME(TREADLE_ERR_JIT);
        NAME(TREADLE_ERR_LIBRARY);
        NAME(TREADLE_ERR_IO);
    }
#undef NAME
    return "?";
}

const char *
treadle_version(void)
{
    return TREADLE_VERSION;
}

const char *
treadle_warning(void)
{
    return td_jit_warning();
}

/* ---- dtypes ---- */

const char *
treadle_dtype_name(treadle_dtype dt)
{
    bool known = (int)dt >= 1 && (int)dt <= TD_DTYPE_COUNT;

    return known ? td_dtype_name((td_dtype)(dt - 1)) : "?";
}

size_t
treadle_dtype_size(treadle_dtype dt)
{
    bool known = (int)dt >= 1 && (int)dt <= TD_DTYPE_COUNT;

    return known ? td_dtype_size((td_dtype)(dt - 1)) : 0;
}

treadle_status
treadle_dtype_find(const char *name, treadle_dtype *out)
{
    td_dtype dt;
    td_status st = name && out ? td_dtype_parse(name, &dt) : td_api_null("dtype_find");

    if (!st)
        *out = (treadle_dtype)(dt + 1);
    return (treadle_status)st;
}

/* ---- operations ---- */

static bool
is_op(treadle_op op)
{
    return (int)op >= 0 && (int)op < TD_OPS;
}

const char *
treadle_op_name(treadle_op op)
{
    return is_op(op) ? td_optab[op].name : "?";
}

int
treadle_op_arity(treadle_op op)
{
    return is_op(op) ? td_optab[op].arity : 0;
}

treadle_status
treadle_op_find(const char *name, treadle_op *out)
{
    td_op op;
    td_status st = name && out ? td_op_find(name, &op) : td_api_null("op_find");

    if (!st && op >= TD_OPS)
        st = td_fail(TD_ERR_VALUE, "no operation is called '%s'", name);
    if (!st)
        *out = (treadle_op)op;
    return (treadle_status)st;
}

/* ---- reductions ---- */

const char *
treadle_red_name(treadle_red red)
{
    return (int)red >= 0 && (int)red < TD_RED_COUNT ? td_redtab[red].name : "?";
}

treadle_status
treadle_red_find(const char *name, treadle_red *out)
{
    if (!name || !out)
        return (treadle_status)td_api_null("red_find");
    for (int i = 0; i < TD_RED_COUNT; i++)
        if (strcmp(td_redtab[i].name, name) == 0) {
            *out = (treadle_red)i;
            return TREADLE_OK;
        }
    return (treadle_status)td_fail(TD_ERR_VALUE, "no reduction is called '%s'", name);
}
