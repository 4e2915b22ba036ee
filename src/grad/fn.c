/* fn.c - functions of the tape: making them, what they save, how they end. */
#include "grad/internal.h"

#include <stdlib.h>
#include <string.h>

static uint64_t serial;

/* Functions without owners that wait to be freed.  One loop frees them all, so long chains do
 * not recurse. */
static struct {
    td_gradfn *first;
    bool busy;
} dying;

bool
td_grad_wanted(td_var *const *x, int n)
{
    if (!td_grad_mode())
        return false;
    for (int i = 0; i < n; i++)
        if (x[i] && td_var_tracked(x[i]))
            return true;
    return false;
}

td_status
td_gradfn_new(const td_rule *r, td_var *const *x, int nin, int nout, int nsaved, size_t npar,
              td_gradfn **out)
{
    size_t edges = (size_t)nin * sizeof(td_edge), saved = (size_t)nsaved * sizeof(td_var *),
           par = (npar + 7) & ~(size_t)7,
           marks = (size_t)nsaved * (sizeof(uint32_t) + sizeof(int16_t));
    char *p = calloc(1, sizeof(td_gradfn) + edges + saved + par + marks);
    td_gradfn *f = (td_gradfn *)(void *)p;
    td_status st = TD_OK;

    if (!p)
        return td_fail(TD_ERR_NOMEM, "%s: out of host memory", r->name);
    f->refs = 1;
    f->nin = (uint16_t)nin;
    f->nout = (uint16_t)nout;
    f->nsaved = (uint16_t)nsaved;
    f->rule = r;
    p += sizeof *f;
    f->in = (td_edge *)(void *)p;
    f->saved = (td_var **)(void *)(p += edges);
    f->par = p += saved;
    f->version = (uint32_t *)(void *)(p += par);
    f->from = (int16_t *)(void *)(p + (size_t)nsaved * sizeof(uint32_t));
    for (int i = 0; i < nin && !st; i++)
        if (x[i])
            st = td_var_edge(x[i], &f->in[i]);
    f->seq = ++serial;
    if (st)
        td_gradfn_unref(f);
    else
        *out = f;
    return st;
}

uint64_t
td_grad_serial(void)
{
    return serial;
}

td_gradfn *
td_gradfn_ref(td_gradfn *f)
{
    f->refs++;
    return f;
}

static void
gradfn_end(td_gradfn *f)
{
    if (f->rule->free)
        f->rule->free(f);
    for (int i = 0; i < f->nin; i++)
        td_edge_drop(&f->in[i]);
    for (int k = 0; k < f->nsaved; k++)
        td_var_unref(f->saved[k]);
    td_hooks_free(f->hooks);
    free(f);
}

void
td_gradfn_unref(td_gradfn *f)
{
    if (!f || --f->refs)
        return;
    f->dead = dying.first;
    dying.first = f;
    if (dying.busy)
        return;
    dying.busy = true;
    while ((f = dying.first)) {
        dying.first = f->dead;
        gradfn_end(f);
    }
    dying.busy = false;
}

void
td_gradfn_let_go(td_gradfn *f)
{
    for (int k = 0; k < f->nsaved; k++) {
        td_var_unref(f->saved[k]);
        f->saved[k] = NULL;
    }
    f->spent = true;
    if (f->rule->let_go)
        f->rule->let_go(f);
}

td_status
td_gradfn_save(td_gradfn *f, int k, td_var *v, int from)
{
    TD_TRY(td_var_savable(v));
    TD_TRY(td_var_twin(v, &f->saved[k]));
    f->version[k] = td_var_version(v);
    f->from[k] = (int16_t)from;
    return TD_OK;
}

const char *
td_grad_word(td_dtype dt)
{
    switch (dt) {
    case TD_BOOL: return "Bool";
    case TD_U8:   return "Byte";
    case TD_I8:   return "Char";
    case TD_I16:  return "Short";
    case TD_I32:  return "Int";
    case TD_I64:  return "Long";
    case TD_F16:  return "Half";
    case TD_BF16: return "BFloat16";
    case TD_F32:  return "Float";
    case TD_F64:  return "Double";
    case TD_C64:  return "ComplexFloat";
    case TD_C128: return "ComplexDouble";
    default:      return td_dtype_name(dt);
    }
}

static td_status
written_over(const td_gradfn *f, int k)
{
    const td_var *v = f->saved[k];
    char shape[256];
    size_t n;

    td_shape_text(&v->value.view.shape, shape, sizeof shape);
    n = strlen(shape);
    shape[n - (n > 2 && shape[n - 2] == ',' ? 2 : 1)] = 0; /* without Python's brackets */
    return td_fail(
        TD_ERR_STATE,
        "one of the variables needed for gradient computation has been modified by an "
        "inplace operation: [torch.%sTensor [%s]], saved by %sBackward0, is at version %u; "
        "expected version %u instead. Hint: enable anomaly detection to find the "
        "operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True).",
        td_grad_word(td_array_dtype(&v->value)), shape + 1, f->rule->name, td_var_version(v),
        f->version[k]);
}

td_status
td_gradfn_check_spent(const td_gradfn *f)
{
    if (!f->spent)
        return TD_OK;
    return td_fail(TD_ERR_STATE,
                   "Trying to backward through the graph a second time (or directly access saved "
                   "tensors after they have already been freed). Saved intermediate values of the "
                   "graph are freed when you call .backward() or autograd.grad(). Specify "
                   "retain_graph=True if you need to backward through the graph a second time or "
                   "if you need to access saved tensors after calling backward.");
}

td_status
td_gradfn_saved(const td_back *b, int k, td_var **out)
{
    td_gradfn *f = b->fn;
    td_var *v = f->saved[k];
    td_edge e = {NULL, NULL, 0};

    TD_TRY(td_gradfn_check_spent(f));
    if (td_var_version(v) != f->version[k])
        return written_over(f, k);
    if (b->graph && f->from[k] == TD_SAVED_RESULT)
        e = (td_edge){.fn = f};
    else if (b->graph && f->from[k] >= 0)
        e = f->in[f->from[k]];
    if (e.leaf || !e.fn) {
        *out = td_var_ref(e.leaf ? e.leaf : v);
        return TD_OK;
    }
    TD_TRY(td_var_detach(v, out));
    (*out)->fn = td_gradfn_ref(e.fn);
    (*out)->out = e.out;
    return TD_OK;
}

td_status
td_gradfn_result(td_gradfn *f, td_array *a, uint32_t number, td_var **out)
{
    td_status st = td_var_new(a, out);

    if (st) {
        td_gradfn_unref(f);
        return st;
    }
    (*out)->fn = f;
    (*out)->out = number;
    return TD_OK;
}
