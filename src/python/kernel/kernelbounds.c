/* kernelbounds.c - launches with treadle.config.checks = "bounds".
 *
 * A function that checks indices is never compiled as it stands.  Before a launch ranges.c tells which checks hold,
 * whatever memory holds; the launch runs a compilation without those.  So most kernels cost what they cost without
 * checks, and the others pay for the indices that they read or that are wrong.
 */
#include "ir/passes/ranges.h"
#include "python/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST = 4,
    EXTENTS = 6
}; /* compilations that leave out different checks; of grid and block */

struct py_bounds {
    py_spec *first;  /* compilations that leave checks out, linked by next */
    py_spec *chosen; /* the last launch's; NULL: none, or it is being compiled */
    uint64_t turn;   /* counts choices: while one compiles, another thread may make the next */
    uint64_t *seen;  /* what its choice depends on: the extents, then the numbers among its words */
    uint32_t *param; /* which words these are */
    uint32_t nparam;
    uint32_t n; /* checks */
};

static bool
is_integer_param(const td_inst *s)
{
    return s->op == OP_param && !(s->flags & TD_INST_PTR) &&
           (s->dt == TD_BOOL || td_dtype_is_int((td_dtype)s->dt));
}

bool
py_bounds_new(py_spec *s)
{
    const td_fn *f = &s->made.fn;
    py_bounds *b = calloc(1, sizeof *b);

    s->bounds = b;
    if (!b)
        return PyErr_NoMemory(), false;
    b->n = s->made.nindex;
    b->param = malloc((f->nparam + 1) * sizeof *b->param);
    b->seen = malloc((f->nparam + EXTENTS) * sizeof *b->seen);
    if (!b->param || !b->seen)
        return PyErr_NoMemory(), false;
    for (uint32_t i = 0; i < f->n; i++)
        if (is_integer_param(&f->ins[i]))
            b->param[b->nparam++] = (uint32_t)f->ins[i].imm;
    return true;
}

void
py_bounds_free(py_bounds *b)
{
    if (!b)
        return;
    for (py_spec *s; (s = b->first);) {
        b->first = s->next;
        py_spec_free(s);
    }
    free(b->seen);
    free(b->param);
    free(b);
}

/* Notes what the choice depends on.  false: it is what it was at the last launch. */
static bool
note_launch(py_bounds *b, const uint64_t *word, uint32_t nword, const td_dims *dims)
{
    bool other = !b->chosen;

    for (uint32_t i = 0; i < EXTENTS + b->nparam; i++) {
        uint32_t at = i < EXTENTS ? 0 : b->param[i - EXTENTS];
        uint64_t x = i < 3         ? dims->grid[i]
                     : i < EXTENTS ? dims->block[i - 3]
                     : at < nword  ? word[at]
                                   : 0;

        other |= b->seen[i] != x || !b->chosen;
        b->seen[i] = x;
    }
    return other;
}

static bool
leaves_out_only(const py_spec *s, const uint8_t *verdict, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (s->verdict[i] != TD_CHECK_OPEN && s->verdict[i] != verdict[i])
            return false;
    return true;
}

/* The compilation without the checks that hold; of too many, one that leaves out fewer.  NULL: exception. */
static py_spec *
find_without(py_spec *s, uint8_t *verdict)
{
    py_bounds *b = s->bounds;
    py_spec *other = NULL, *made;
    int count = 0;

    for (py_spec *p = b->first; p; p = p->next, count++) {
        if (memcmp(p->verdict, verdict, b->n) == 0)
            return p;
        if (leaves_out_only(p, verdict, b->n))
            other = p;
    }
    if (count >= MOST && other)
        return other;
    if (count >= MOST)
        memset(verdict, TD_CHECK_OPEN, b->n);
    made = py_spec_without(s, verdict);
    if (made) {
        made->next = b->first;
        b->first = made;
    }
    return made;
}

py_spec *
py_bounds_choose(py_spec *s, const uint64_t *word, uint32_t nword, const td_dims *dims)
{
    bool kernel = s->home->how.mode == TD_MODE_KERNEL;
    uint8_t *verdict;
    py_bounds *b = s->bounds;
    py_spec *made;
    uint64_t turn;

    if (!b)
        return s;
    if (!note_launch(b, word, nword, dims))
        return b->chosen;
    b->chosen = NULL;
    turn = ++b->turn;
    verdict = malloc(b->n + 1);
    if (!verdict)
        return PyErr_NoMemory(), NULL;
    td_fn_ranges(&s->made.fn, word, nword, kernel ? dims->grid : NULL, kernel ? dims->block : NULL,
                 verdict, b->n);
    made = find_without(s, verdict);
    free(verdict);
    if (b->turn == turn)
        b->chosen = made;
    return made;
}

py_spec *
py_bounds_last(py_spec *s)
{
    return s->bounds && s->bounds->chosen ? s->bounds->chosen : s;
}
