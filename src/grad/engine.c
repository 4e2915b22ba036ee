/* engine.c - backward passes.
 *
 * First the pass collects everything that the roots lead to.  A function is younger than all that
 * its edges lead to. So the pass runs functions from the youngest to the oldest, and each has
 * received all its gradients by then.  A pass keeps its state to itself, since hooks and rules
 * may start passes of their own on the same functions.
 */
#include "grad/internal.h"

#include <stdlib.h>

/* met - a function or leaf that the pass has reached. */
typedef struct met {
    td_gradfn *fn; /* owned; or */
    td_var *leaf;  /* owned */
    td_var **sum;  /* gradients received so far, one per output */
    td_var *own;   /* the only element of `sum` if there is one output */
    uint32_t left; /* leaf: edges that may still bring a gradient */
    bool needed;   /* it leads to a requested input */
    int32_t next;  /* the next requested input of the same function */
} met;

typedef struct pass {
    const td_pass *p;
    met *at;
    size_t n, cap;
    uint32_t *slot; /* hash table of pointers: index in `at` + 1 */
    size_t nslot;
    uint32_t *order; /* functions, youngest first */
    size_t norder;
    uint64_t since; /* functions up to this number are reached, but not what they lead to */
} pass;

static size_t
pointer_hash(const void *p, size_t nslot)
{
    return (size_t)(((uintptr_t)p >> 4) * 0x9E3779B97F4A7C15ull >> 20) & (nslot - 1);
}

static void
engine_enter(pass *s, uint32_t i)
{
    const void *key = s->at[i].fn ? (const void *)s->at[i].fn : s->at[i].leaf;
    size_t h = pointer_hash(key, s->nslot);

    while (s->slot[h])
        h = (h + 1) & (s->nslot - 1);
    s->slot[h] = i + 1;
}

static td_status
pass_grow(pass *s)
{
    size_t cap = s->cap ? s->cap * 2 : 64, nslot = cap * 4;
    met *at = realloc(s->at, cap * sizeof *at);
    uint32_t *slot;

    if (at)
        s->at = at;
    slot = calloc(nslot, sizeof *slot);
    if (!at || !slot) {
        free(slot);
        return td_fail(TD_ERR_NOMEM, "backward: out of host memory after %zu functions", s->n);
    }
    s->cap = cap;
    free(s->slot);
    s->slot = slot;
    s->nslot = nslot;
    for (size_t i = 0; i < s->n; i++)
        engine_enter(s, (uint32_t)i);
    return TD_OK;
}

/* -1: not reached */
static int64_t
engine_find(const pass *s, const void *key)
{
    if (!s->nslot)
        return -1;
    for (size_t h = pointer_hash(key, s->nslot); s->slot[h]; h = (h + 1) & (s->nslot - 1)) {
        const met *m = &s->at[s->slot[h] - 1];

        if (m->fn == key || m->leaf == key)
            return s->slot[h] - 1;
    }
    return -1;
}

static td_status
node_of_edge(pass *s, const td_edge *e, int64_t *out)
{
    *out = engine_find(s, e->fn ? (const void *)e->fn : e->leaf);
    if (*out >= 0)
        return TD_OK;
    if (s->n == s->cap)
        TD_TRY(pass_grow(s));
    *out = (int64_t)s->n++;
    s->at[*out] = (met){.fn = e->fn ? td_gradfn_ref(e->fn) : NULL,
                        .leaf = e->fn ? NULL : td_var_ref(e->leaf),
                        .next = -1};
    if (e->fn && e->fn->nout > 1) {
        s->at[*out].sum = calloc(e->fn->nout, sizeof(td_var *));
        if (!s->at[*out].sum)
            return td_fail(TD_ERR_NOMEM, "backward: out of host memory");
    }
    engine_enter(s, (uint32_t)*out);
    return TD_OK;
}

/* Collects all that the roots lead to, breadth first; `at` is the queue. */
static td_status
collect_nodes(pass *s)
{
    int64_t at;

    for (int i = 0; i < s->p->nroot; i++) {
        td_edge e;
        td_status st;

        TD_TRY(td_var_edge(s->p->root[i], &e));
        st = td_edge_live(&e) ? node_of_edge(s, &e, &at)
                              : td_fail(TD_ERR_STATE,
                                        "element %d of tensors does not require grad and "
                                        "does not have a grad_fn",
                                        i);
        if (!st)
            s->at[at].left++;
        td_edge_drop(&e);
        TD_TRY(st);
    }
    for (size_t i = 0; i < s->n; i++) {
        td_gradfn *f = s->at[i].fn;

        for (int k = 0; f && f->seq > s->since && k < f->nin; k++)
            if (td_edge_live(&f->in[k])) {
                TD_TRY(node_of_edge(s, &f->in[k], &at));
                s->at[at].left++;
            }
    }
    return TD_OK;
}

typedef struct aged {
    uint64_t seq;
    uint32_t at;
} aged;

static int
younger(const void *a, const void *b)
{
    uint64_t x = ((const aged *)a)->seq, y = ((const aged *)b)->seq;

    return (x < y) - (x > y);
}

static td_status
put_in_order(pass *s)
{
    aged *all = malloc((s->n + 1) * sizeof *all);

    s->order = malloc((s->n + 1) * sizeof *s->order);
    if (!all || !s->order) {
        free(all);
        return td_fail(TD_ERR_NOMEM, "backward: out of host memory");
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].fn)
            all[s->norder++] = (aged){s->at[i].fn->seq, (uint32_t)i};
    qsort(all, s->norder, sizeof *all, younger);
    for (size_t i = 0; i < s->norder; i++)
        s->order[i] = all[i].at;
    free(all);
    return TD_OK;
}

/* ---- inputs that were asked for ---- */

static td_status
mark_inputs_needed(pass *s)
{
    for (int i = 0; i < s->p->ninput; i++) {
        td_edge e;
        int64_t at;
        td_status st = td_var_edge(s->p->input[i], &e);

        TD_TRY(st);
        if (!td_edge_live(&e))
            return td_fail(TD_ERR_STATE, "One of the differentiated Tensors does not require grad");
        at = engine_find(s, e.fn ? (const void *)e.fn : e.leaf);
        if (at >= 0)
            s->at[at].needed = true;
        td_edge_drop(&e);
    }
    for (size_t i = s->norder; i-- > 0;) { /* oldest first */
        met *m = &s->at[s->order[i]];

        for (int k = 0; k < m->fn->nin; k++)
            if (td_edge_live(&m->fn->in[k])) {
                const td_edge *e = &m->fn->in[k];
                int64_t at = engine_find(s, e->fn ? (const void *)e->fn : e->leaf);

                m->needed |= s->at[at].needed;
            }
    }
    return TD_OK;
}

/* ---- gradients on their way ---- */

/* Adds g to *sum; takes g. */
static td_status
add_to(td_var **sum, td_var *g)
{
    td_var *r;
    td_status st;

    if (!*sum) {
        *sum = g;
        return TD_OK;
    }
    st = td_var_apply(OP_add, (td_varop[]){{.v = *sum}, {.v = g}}, 2, &r);
    td_var_unref(g);
    TD_TRY(st);
    td_var_unref(*sum);
    *sum = r;
    return TD_OK;
}

static td_status
run_hooks(td_hook *list, uint32_t number, td_var **g)
{
    for (td_hook *h = list, *next; h; h = next) {
        next = h->next;
        if (h->before && h->out == number)
            TD_TRY(h->before(h, g));
    }
    return TD_OK;
}

/* g's value in a storage of its own. */
static td_status
boxed(td_var *g, td_var **out)
{
    td_array a;

    TD_TRY(td_array_again(&g->value, &a));
    return td_var_new(&a, out);
}

static td_status
add_into(td_var *sum, td_var *g)
{
    return td_array_apply_into(OP_add, (td_operand[]){{.array = &sum->value}, {.array = &g->value}},
                               2, &sum->value);
}

/* v's gradient plus g.  Meanwhile the lock may be released, and the program may drop v's
 * gradient. */
static td_status
added(const pass *s, td_var *v, td_var *g)
{
    td_var *sum = v->grad ? td_var_ref(v->grad) : NULL;
    td_status st = TD_OK;

    if (s->p->graph && sum)
        st = add_to(&v->grad, td_var_ref(g));
    else if (sum)
        st = add_into(sum, g);
    else if (s->p->graph || (g->refs == 1 && g->value.store->refs == 1))
        v->grad = td_var_ref(g);
    else
        st = boxed(g, &v->grad);
    td_var_unref(sum);
    return st;
}

/* Adds to v's grad; takes g. */
static td_status
accumulate_grad(const pass *s, td_var *v, td_var *g)
{
    td_status st;

    if (v->grad_dtype >= 0) {
        td_var *cast;

        st = td_var_cast(g, (td_dtype)v->grad_dtype, &cast);
        td_var_unref(g);
        TD_TRY(st);
        g = cast;
    }
    while (v->busy) /* wait for the other thread's pass, which never waits for this one */
        td_graph_yield();
    v->busy = true;
    st = added(s, v, g);
    v->busy = false;
    td_var_unref(g);
    TD_TRY(st);
    for (td_hook *h = v->hooks, *next; h; h = next) {
        next = h->next;
        if (h->after)
            TD_TRY(h->after(h, v));
    }
    return TD_OK;
}

/* Hands a gradient to those who requested it for fn's output, or for the leaf (number 0). */
static td_status
hand_out(const pass *s, const met *m, uint32_t number, td_var *g)
{
    for (int i = 0; i < s->p->ninput; i++) {
        td_var *v = s->p->input[i];

        if (m->fn ? v->fn != m->fn || v->out != number : v != m->leaf)
            continue;
        if (s->p->found) {
            td_var_unref(s->p->found[i]);
            s->p->found[i] = td_var_ref(g);
        } else
            TD_TRY(accumulate_grad(s, v, td_var_ref(g)));
    }
    return TD_OK;
}

/* The leaf has received all its gradients. */
static td_status
finish_leaf(const pass *s, met *m)
{
    td_var *g = m->own, *v = m->leaf;
    td_status st;

    m->own = NULL;
    if (!g)
        return TD_OK;
    st = run_hooks(v->hooks, 0, &g);
    if (!st && !s->p->input)
        return accumulate_grad(s, v, g);
    if (!st)
        st = hand_out(s, m, 0, g);
    td_var_unref(g);
    return st;
}

/* A gradient arrives along an edge; NULL: nothing comes.  Takes g. */
static td_status
arrive(pass *s, const td_edge *e, td_var *g)
{
    met *m = &s->at[engine_find(s, e->fn ? (const void *)e->fn : e->leaf)];
    td_status st = TD_OK;

    if (g)
        st = add_to(m->sum ? &m->sum[e->out] : &m->own, g);
    if (!st && !--m->left && m->leaf)
        st = finish_leaf(s, m);
    return st;
}

/* A mask of the inputs that want a gradient. */
static uint64_t
wanted(const pass *s, const td_gradfn *f)
{
    uint64_t want = 0;

    for (int k = 0; k < f->nin && k < 64; k++) {
        const td_edge *e = &f->in[k];

        if (td_edge_live(e) &&
            (!s->p->input || s->at[engine_find(s, e->fn ? (const void *)e->fn : e->leaf)].needed))
            want |= (uint64_t)1 << k;
    }
    return want;
}

static td_status
run_rule(pass *s, td_gradfn *f, td_var **g)
{
    td_var *few[8] = {NULL}, **in = f->nin > 8 ? calloc(f->nin, sizeof *in) : few;
    td_back b = {.fn = f, .g = g, .in = in, .graph = s->p->graph};
    td_status st;

    if (!in)
        return td_fail(TD_ERR_NOMEM, "%s: out of host memory", f->rule->name);
    b.want = wanted(s, f);
    st = f->rule->back(&b);
    for (int k = 0; k < f->nin; k++) {
        td_var *one = in[k];

        if (!st && one && s->p->check)
            st = s->p->check(f, k, one);
        if (!st && td_edge_live(&f->in[k]))
            st = arrive(s, &f->in[k], one);
        else
            td_var_unref(one);
    }
    if (in != few)
        free(in);
    return st;
}

/* f does not run: tells the functions after it not to wait for it. */
static td_status
skip(pass *s, const td_gradfn *f)
{
    for (int k = 0; k < f->nin; k++)
        if (td_edge_live(&f->in[k]))
            TD_TRY(arrive(s, &f->in[k], NULL));
    return TD_OK;
}

static td_status
pass_step(pass *s, uint32_t at)
{
    met *m = &s->at[at];
    td_gradfn *f = m->fn;
    td_var **g = m->sum ? m->sum : &m->own;
    bool any = false, further = !s->p->input;
    td_status st = TD_OK;

    for (uint32_t k = 0; k < f->nout && !st; k++) {
        if (!g[k])
            continue;
        any = true;
        st = run_hooks(f->hooks, k, &g[k]);
        if (!st && s->p->input && m->needed)
            st = hand_out(s, m, k, g[k]);
    }
    TD_TRY(st);
    further = further || wanted(s, f);
    st = any && further ? run_rule(s, f, g) : skip(s, f);
    for (uint32_t k = 0; k < f->nout; k++) {
        td_var_unref(g[k]);
        g[k] = NULL;
    }
    if (!st && any && further && !s->p->retain)
        td_gradfn_let_go(f);
    return st;
}

/* ---- a pass ---- */

static td_status
engine_start(pass *s)
{
    for (int i = 0; i < s->p->nroot; i++) {
        td_var *v = s->p->root[i], *g = s->p->grad ? s->p->grad[i] : NULL;
        td_edge e;
        td_status st = TD_OK;

        if (g)
            g = td_var_ref(g);
        else {
            td_array one;

            TD_TRY(td_array_full(td_array_dev(&v->value), td_array_dtype(&v->value),
                                 &v->value.view.shape, (td_scalar){.dt = TD_I64, .i = 1}, &one));
            TD_TRY(td_var_new(&one, &g));
        }
        st = td_var_edge(v, &e);
        if (!st)
            st = arrive(s, &e, g);
        td_edge_drop(&e);
        TD_TRY(st);
    }
    return TD_OK;
}

static void
end_pass(pass *s)
{
    for (size_t i = 0; i < s->n; i++) {
        met *m = &s->at[i];

        for (uint32_t k = 0; m->sum && k < m->fn->nout; k++)
            td_var_unref(m->sum[k]);
        free(m->sum);
        td_var_unref(m->own);
        td_gradfn_unref(m->fn);
        td_var_unref(m->leaf);
    }
    free(s->at);
    free(s->slot);
    free(s->order);
}

static td_status
check_roots(const td_pass *p)
{
    char want[256], have[256];

    for (int i = 0; i < p->nroot; i++) {
        const td_var *v = p->root[i], *g = p->grad ? p->grad[i] : NULL;

        if (!g && td_array_size(&v->value) != 1 && !td_var_tracked(v))
            return td_fail(
                TD_ERR_STATE,
                "element %d of tensors does not require grad and does not have a grad_fn", i);
        if (!g && td_array_size(&v->value) != 1)
            return td_fail(TD_ERR_STATE, "grad can be implicitly created only for scalar outputs");
        if (!g && td_dtype_is_complex(td_array_dtype(&v->value)))
            return td_fail(TD_ERR_STATE,
                           "grad can be implicitly created only for real scalar outputs but got %s",
                           td_dtype_name(td_array_dtype(&v->value)));
        if (g && !td_shape_eq(&v->value.view.shape, &g->value.view.shape))
            return td_fail(
                TD_ERR_STATE,
                "Mismatch in shape: grad_output[%d] has a shape of %s and output[%d] has "
                "a shape of %s.",
                i, td_shape_text(&g->value.view.shape, have, sizeof have), i,
                td_shape_text(&v->value.view.shape, want, sizeof want));
    }
    return TD_OK;
}

td_status
td_grad_run(const td_pass *p)
{
    pass s = {.p = p};
    bool was = td_grad_set_mode(p->graph);
    td_status st = check_roots(p);

    if (!st)
        st = collect_nodes(&s);
    if (!st)
        st = put_in_order(&s);
    if (!st && p->input)
        st = mark_inputs_needed(&s);
    if (!st)
        st = engine_start(&s);
    for (size_t i = 0; i < s.norder && !st; i++)
        st = pass_step(&s, s.order[i]);
    end_pass(&s);
    td_grad_set_mode(was);
    return st;
}

td_status
td_grad_reach(td_var *const *root, int n, uint64_t since, td_var ***leaves, int *nleaves,
              bool *beyond)
{
    td_pass all = {.root = root, .nroot = n};
    pass s = {.p = &all, .since = since};
    td_status st = collect_nodes(&s);

    *nleaves = 0;
    *beyond = false;
    *leaves = st ? NULL : malloc((s.n + 1) * sizeof **leaves);
    if (!st && !*leaves)
        st = td_fail(TD_ERR_NOMEM, "backward: out of host memory after %zu functions", s.n);
    for (size_t i = 0; i < s.n && !st; i++)
        if (s.at[i].leaf)
            (*leaves)[(*nleaves)++] = td_var_ref(s.at[i].leaf);
        else
            *beyond |= s.at[i].fn->seq <= since;
    end_pass(&s);
    return st;
}
