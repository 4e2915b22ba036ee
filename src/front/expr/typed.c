/* typed.c - functions of numbers with fixed types: arguments are converted, the result has the
 * type that the name says. */
#include "front/expr/typed.h"

#include <string.h>

static td_dtype
letter_to_dtype(char letter)
{
    static const struct {
        char letter;
        td_dtype dt;
    } tab[] = {{'b', TD_BOOL}, {'c', TD_I8},  {'C', TD_U8},  {'h', TD_I16}, {'H', TD_U16},
               {'i', TD_I32},  {'I', TD_U32}, {'l', TD_I64}, {'L', TD_U64}, {'e', TD_F16},
               {'g', TD_BF16}, {'f', TD_F32}, {'d', TD_F64}};

    for (size_t i = 0; i < sizeof tab / sizeof *tab; i++)
        if (tab[i].letter == letter)
            return tab[i].dt;
    td_bug(__FILE__, __LINE__, "signature");
}

/* The part of the row's first name after its last dot. */
static const char *
short_name(const char *names, char *buf, size_t n)
{
    size_t len = strcspn(names, " "), from = len;

    while (from && names[from - 1] != '.')
        from--;
    len = len - from < n - 1 ? len - from : n - 1;
    memcpy(buf, names + from, len);
    buf[len] = 0;
    return buf;
}

static td_status
typed_arguments(walk *w, const call *c, const char *name, const char *letters, thing *x)
{
    uint32_t n = (uint32_t)strlen(letters);

    TD_TRY(want_args(w, c, name, n, n));
    for (uint32_t i = 0; i < n; i++) {
        x[i] = c->arg[i];
        TD_TRY(loaded(w, &x[i]));
        if (!is_num(&x[i]) || td_dtype_is_complex(x[i].type->dt))
            return bad(w, c->node, TD_ERR_TYPE, "%s takes numbers, not %s", name, x[i].type->name);
        x[i] = num_val(letter_to_dtype(letters[i]), val_as(w, &x[i], letter_to_dtype(letters[i])));
    }
    return TD_OK;
}

td_status
fn_typed(walk *w, const call *c, int number, thing *out)
{
    const td_intrinsic_row *r = &td_intrinsics[number];
    const char *colon = strchr(r->sig, ':');
    uint32_t nresult = (uint32_t)(colon - r->sig);
    thing x[TD_MAXARG], *got;
    char name[32];

    TD_TRY(typed_arguments(w, c, short_name(r->names, name, sizeof name), colon + 1, x));
    w->node = c->node;
    TD_TRY(r->spell(w, x, (int)strlen(colon + 1), r->row, letter_to_dtype(*r->sig), out));
    if (nresult == 1) {
        *out = num_convert(w, out, td_type_num(letter_to_dtype(*r->sig)));
        return built(w, c->node);
    }
    got = td_alloc(w->mem, nresult * sizeof *got);
    for (uint32_t i = 0; i < nresult; i++)
        got[i] = num_convert(w, &out->item[i], td_type_num(letter_to_dtype(r->sig[i])));
    *out = tuple_of(w, got, nresult);
    return built(w, c->node);
}
