/* reach.c - finds what each name of a text may call.
 *
 * Names are nodes; the words of a body are edges.  Overloads, methods and macros of one name
 * share a node.
 */
#include "cxx/reach.h"

#include "base/hash.h"

#include <string.h>

typedef struct reach_name {
    const char *s;
    uint32_t n;
    uint8_t flags;
    bool function, method, macro, called_oddly; /* named where it is not called */
} reach_name;

static const struct {
    const char *prefix;
    uint8_t flags;
} words[] = {{"__syncthreads", CX_BARRIER},
             {"__barrier_sync", CX_BARRIER},
             {"__syncwarp", CX_WARP},
             {"__shfl", CX_WARP},
             {"__ballot", CX_WARP},
             {"__any", CX_WARP},
             {"__all", CX_WARP},
             {"__uni", CX_WARP},
             {"__match_", CX_WARP},
             {"__activemask", CX_WARP},
             {"__reduce_", CX_WARP},
             {"__nanosleep", CX_WARP},
             {"cooperative_groups", CX_BARRIER},
             {"this_thread_block", CX_BARRIER},
             {"thread_block", CX_BARRIER},
             {"tiled_partition", CX_WARP},
             {"coalesced_", CX_WARP},
             {"this_grid", CX_BARRIER | CX_GRID},
             {"grid_group", CX_BARRIER | CX_GRID},
             {"this_multi_grid", CX_BARRIER | CX_GRID},
             {"cub", CX_BARRIER},
             {"threadIdx", CX_INDEX},
             {"blockIdx", CX_INDEX},
             {"blockDim", CX_INDEX},
             {"gridDim", CX_INDEX},
             {"volatile", CX_VOLATILE}};

/* Headers without barriers of their own beside the names above; those without a dot are the
 * language's. */
static const char *const harmless[] = {"cuda.h",
                                       "cuda_runtime.h",
                                       "cuda_runtime_api.h",
                                       "device_launch_parameters.h",
                                       "device_functions.h",
                                       "math_constants.h",
                                       "math_functions.h",
                                       "cuda_fp16.h",
                                       "cuda_bf16.h",
                                       "cuda_fp16.hpp",
                                       "cuComplex.h",
                                       "vector_types.h",
                                       "vector_functions.h",
                                       "cooperative_groups.h",
                                       "cooperative_groups/reduce.h",
                                       "cooperative_groups/scan.h",
                                       "cooperative_groups/memcpy_async.h",
                                       "sm_20_intrinsics.h",
                                       "texture_fetch_functions.h",
                                       "cuda_texture_types.h",
                                       "surface_functions.h",
                                       "math.h",
                                       "stdio.h",
                                       "stdlib.h",
                                       "stdint.h",
                                       "float.h",
                                       "limits.h",
                                       "assert.h",
                                       "stddef.h",
                                       "string.h",
                                       "stdbool.h",
                                       "curand_kernel.h",
                                       "cupy/complex.cuh",
                                       "pycuda-complex.hpp",
                                       "pycuda-helpers.hpp",
                                       NULL};

static uint8_t
builtin(const tok *t)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].prefix);

        if (t->n >= n && memcmp(t->s, words[i].prefix, n) == 0 &&
            (t->n == n || (words[i].prefix[0] == '_' && words[i].prefix[1] == '_') ||
             words[i].prefix[n - 1] == '_'))
            return words[i].flags;
    }
    return 0;
}

static uint32_t
name_slot(const reach *r, const char *s, uint32_t n)
{
    uint32_t h = (uint32_t)td_hash_add(TD_HASH_INIT, s, n).a;

    for (;; h++) {
        uint32_t at = r->slot[h & (r->cap - 1)];

        if (!at || (r->name[at - 1].n == n && memcmp(r->name[at - 1].s, s, n) == 0))
            return h & (r->cap - 1);
    }
}

static reach_name *
reach_find(const reach *r, const tok *t)
{
    uint32_t at = t->kind == TOK_WORD ? r->slot[name_slot(r, t->s, t->n)] : 0;

    return at ? &r->name[at - 1] : NULL;
}

static reach_name *
reach_enter(reach *r, const char *s)
{
    uint32_t n = (uint32_t)strlen(s), slot = name_slot(r, s, n);

    if (!r->slot[slot]) {
        r->name[r->n] = (reach_name){.s = s, .n = n};
        r->slot[slot] = ++r->n;
    }
    return &r->name[r->slot[slot] - 1];
}

uint8_t
td_reach_of(const reach *r, const tok *t)
{
    const reach_name *n = reach_find(r, t);

    return t->kind == TOK_WORD ? (uint8_t)(builtin(t) | (n ? n->flags : 0)) : 0;
}

static uint8_t
flags_of(const reach *r, const toks *k, uint32_t i, uint32_t end)
{
    uint8_t f = 0;

    for (; i < end; i++) {
        f |= td_reach_of(r, &k->t[i]);
        if (k->t[i].kind == TOK_WORD && td_tok_is(&k->t[i], "sync") && i > 0 &&
            (td_tok_is(&k->t[i - 1], ".") || td_tok_is(&k->t[i - 1], "->")))
            f |= CX_BARRIER;
    }
    return f;
}

uint8_t
td_reach_range(const reach *r, uint32_t i, uint32_t end)
{
    return flags_of(r, &r->u->k, i, end);
}

static bool
propagate_flags(reach *r)
{
    const cx_unit *u = r->u;
    bool more = false;

    for (uint32_t i = 0; i < u->nfn; i++) {
        const cx_fn *f = &u->fn[i];
        reach_name *n = reach_enter(r, f->name),
                   *owner = *f->owner ? reach_enter(r, f->owner) : NULL;
        uint8_t got = flags_of(r, &u->k, f->open_at, f->body_at ? f->end_at : f->close_at);

        if (f->kernel)
            continue;
        more |= (got & ~n->flags) != 0 || (owner && (got & ~owner->flags));
        n->flags |= got;
        if (owner)
            owner->flags |= got;
        if (strcmp(f->name, "operator") == 0)
            r->all |= got & ~CX_INDEX;
    }
    for (uint32_t i = 0; i < u->nmacro; i++) {
        reach_name *n = reach_enter(r, u->macro[i].name);
        uint8_t got = flags_of(r, &u->macro[i].body, 0, u->macro[i].body.n);

        more |= (got & ~n->flags) != 0;
        n->flags |= got;
        n->macro = true;
    }
    return more;
}

/* Marks names used otherwise than in f(…) or f<…>(…): such functions keep their parameters. */
static void
odd_uses(reach *r)
{
    static const char *const before_call[] = {"return", "else", "do",  "case", "throw",
                                              "and",    "or",   "not", NULL};
    const cx_unit *u = r->u;

    for (uint32_t i = 0; i < u->nmacro; i++)
        for (uint32_t j = 0; j < u->macro[i].body.n; j++) {
            reach_name *n = reach_find(r, &u->macro[i].body.t[j]);

            if (n)
                n->called_oddly = true;
        }
    for (uint32_t i = 0; i < u->nfn; i++) {
        reach_name *n = reach_enter(r, u->fn[i].name);

        n->function = true;
        n->method |= *u->fn[i].owner || strcmp(u->fn[i].name, "operator") == 0;
    }
    for (uint32_t i = 0, f = 0; i < u->k.n; i++) {
        const tok *t = &u->k.t[i];
        reach_name *n = reach_find(r, t);
        uint32_t next = i + 1;

        if (!n || !n->function)
            continue;
        while (f < u->nfn && u->fn[f].name_at < i)
            f++;
        if (f < u->nfn && u->fn[f].name_at == i)
            continue; /* its declaration */
        if (next < u->k.n && td_tok_is(&u->k.t[next], "<"))
            next = td_tok_angles(&u->k, next, u->k.n);
        if (!next || !td_tok_is(&u->k.t[next], "(") ||
            (i && (u->k.t[i - 1].kind == TOK_WORD
                       ? !td_tok_among(&u->k.t[i - 1], before_call)
                       : td_tok_is(&u->k.t[i - 1], ".") || td_tok_is(&u->k.t[i - 1], "->"))))
            n->called_oddly = true;
    }
}

td_status
td_reach_find(const cx_unit *u, reach *r)
{
    uint32_t most = 2 * u->nfn + u->nmacro;

    *r = (reach){.u = u};
    for (r->cap = 16; r->cap < 2 * most + 2; r->cap *= 2)
        ;
    r->slot = td_alloc_big(u->a, r->cap * sizeof *r->slot);
    r->name = td_alloc_big(u->a, (most + 1) * sizeof *r->name);
    if (!r->slot || !r->name)
        return td_fail(TD_ERR_NOMEM, "%s: no memory for its functions", u->k.file);
    for (uint32_t i = 0; i < u->ninclude; i++) {
        const tok name = {.s = u->include[i], .n = (uint32_t)strlen(u->include[i])};

        if (strchr(u->include[i], '.') && !td_tok_among(&name, harmless))
            r->all |= CX_BARRIER | CX_WARP;
    }
    while (propagate_flags(r))
        ;
    odd_uses(r);
    return TD_OK;
}

static bool
takes(const reach_name *n)
{
    return n->function && (n->flags & CX_INDEX) && !n->method && !n->called_oddly && !n->macro;
}

bool
td_reach_takes(const reach *r, const cx_fn *f)
{
    const tok name = {.s = f->name, .n = (uint32_t)strlen(f->name), .kind = TOK_WORD};
    const reach_name *n = reach_find(r, &name);

    return f->kernel || (n && takes(n));
}

bool
td_reach_index_call(const reach *r, const tok *t)
{
    const reach_name *n = reach_find(r, t);

    return n && takes(n);
}
