/* linearfn.c - linear algebra of functions on the CPU: calls of numpy.linalg's own loops, which call LAPACK.
 *
 * treadle._compile._linear says numpy.linalg's functions in Python; treadle.linear(…) is what they call a loop by.
 */
#include "base/box.h"
#include "base/ufunc.h"
#include "front/infer/intrin.h"
#include "front/infer/lazy.h"

enum { HEAD = 4, MOST_WORDS = HEAD + TD_LINEAR_ARGS + 8 + 3 * TD_LINEAR_ARGS };

/* row - words in the making. */
typedef struct row {
    td_val word[MOST_WORDS];
    uint32_t n;
} row;

static void
add(row *r, td_val v)
{
    if (r->n < MOST_WORDS)
        r->word[r->n++] = v;
}

static int
type_number(td_dtype dt)
{
    return dt == TD_F32 ? 0 : dt == TD_F64 ? 1 : dt == TD_C64 ? 2 : dt == TD_C128 ? 3 : -1;
}

/* The address of the array's first element. */
static td_val
first_element(walk *w, const thing *x)
{
    td_val base = td_address(w->f, x->view->base);

    if (x->view->offset.i == UINT32_MAX)
        return base;
    return TD_E2(w->f, add, base,
                 td_cast(w->f,
                         TD_E2(w->f, multiply, x->view->offset,
                               td_const_int(w->f, TD_I64, td_type_size(x->type->item[0]))),
                         TD_U64));
}

static void
add_strides(walk *w, row *r, const thing *x, int64_t axes)
{
    int64_t size = td_type_size(x->type->item[0]);

    for (uint32_t i = 0; i < axes; i++) {
        dim s = stride_of(w, x, i);

        add(r, TD_E2(w->f, multiply, dim_val(w, &s), td_const_int(w->f, TD_I64, size)));
    }
}

static td_status
check(walk *w, const call *c)
{
    bool ok = c->n > 3 && c->n <= 3 + TD_LINEAR_ARGS && c->arg[1].type->kind == TD_T_TUPLE &&
              c->arg[2].type->kind == TD_T_TUPLE && c->arg[2].type->n == c->n - 3;
    int64_t k;

    for (uint32_t i = 3; ok && i < c->n; i++)
        ok = is_array(&c->arg[i]) && !c->arg[i].lazy && known_int(&c->arg[2].item[i - 3], &k);
    ok = ok && known_int(&c->arg[0], &k) && type_number(c->arg[3].type->item[0]->dt) >= 0;
    return ok ? TD_OK
              : bad(w, c->node, TD_ERR_TYPE,
                    "linear takes a number, sizes, ranks and arrays of floats");
}

/* linear(k, sizes, ranks, *arrays): calls the loop of that number for the first array's dtype; sizes: of the signature's
 * axes; ranks: how many axes each array has in it.  Gives True where LAPACK failed. */
td_status
fn_linear(walk *w, const call *c, int number, thing *out)
{
    const thing *sizes = &c->arg[1], *ranks = &c->arg[2], *array = &c->arg[3];
    uint32_t n = c->n - 3, at;
    int64_t k, rank;
    row r = {.n = HEAD};
    td_val words;

    (void)number;
    TD_TRY(check(w, c));
    if (w->how->mode != TD_MODE_FUNCTION || w->how->gpu || w->exact)
        return bad(w, c->node, TD_ERR_TYPE,
                   "numpy.linalg's functions are those of compiled functions on a CPU");
    (void)known_int(&c->arg[0], &k);
    k = 4 * k + type_number(array[0].type->item[0]->dt);
    for (uint32_t i = 0; i < n; i++) {
        touch(w, array[i].view, (int)i >= td_linear_nin((int)k));
        add(&r, first_element(w, &array[i]));
    }
    for (uint32_t i = 0; i < sizes->type->n; i++)
        add(&r, val_as(w, &sizes->item[i], TD_I64));
    at = r.n;
    for (uint32_t i = 0; i < n; i++) {
        (void)known_int(&ranks->item[i], &rank);
        add_strides(w, &r, &array[i], rank);
    }
    r.word[0] = td_const_int(w->f, TD_I64, k);
    r.word[1] = td_const_int(w->f, TD_I64, n);
    r.word[2] = td_const_int(w->f, TD_I64, sizes->type->n);
    r.word[3] = td_const_int(w->f, TD_I64, r.n - at);
    words = td_local(w->f, TD_U64, r.n);
    for (uint32_t i = 0; i < r.n; i++)
        td_store(w->f, words, td_const_int(w->f, TD_I64, i), td_cast(w->f, r.word[i], TD_U64),
                 TD_NONE, 0);
    *out =
        num_val(TD_BOOL, TD_E2(w->f, not_equal,
                               td_ask(w->f, td_const_int(w->f, TD_U64, 0), td_address(w->f, words),
                                      td_const_int(w->f, TD_I64, TD_ASK_LINEAR)),
                               td_const_int(w->f, TD_U64, 0)));
    return built(w, c->node);
}
