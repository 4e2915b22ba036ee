/* jit.c - kernels by key: from memory, else from disk, else built.
 *
 * The thread that asks first makes the kernel, outside the lock, so several kernels compile at
 * once.  Other threads that ask for it wait.  A failure is not kept: the next thread that asks
 * tries again.
 *
 * A kernel that somebody holds stays.  When more than TREADLE_KERNELS_KEPT kernels are there that nobody holds, as many
 * of these as exceed three quarters of the bound are unloaded, the ones asked for longest ago first.  So a search
 * through the table pays for many.
 */
#include "jit/jit.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/opts.h"
#include "dev/core/tape.h"
#include "dev/core/trace.h"
#include "ir/interp/interp.h"
#include "ir/interp/kfiber.h"
#include "jit/cache.h"
#include "jit/engine.h"
#include "jit/library.h"

#include "build_id.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum state { IDLE, BUILDING, READY } state;

/* td_kernel - one kernel on one device. */
struct td_kernel {
    state state;      /* guarded by jit.mu; the rest is constant once READY */
    uint64_t asked;   /* guarded by jit.mu: the value of jit.clock when somebody asked for it */
    atomic_int holds; /* rises under jit.mu only */
    atomic_bool kept; /* for the process's life */
    td_hash key;      /* in jit.kernels */
    const td_engine *engine;
    char name[20]; /* "k_" and the key's first 16 digits */
    td_loaded loaded;
    _Atomic(const char *) label; /* set by td_jit_set_label */
    td_arena mem;                /* of fn */
    td_fn fn;                    /* interpreted engines only */
};

static struct {
    pthread_mutex_t mu;
    pthread_cond_t changed; /* signalled when a kernel is no longer BUILDING */
    td_map kernels;         /* by the caller's key and device */
    td_map named;           /* those that are interpreted, by name */
    uint64_t clock;         /* questions so far */
    size_t look;            /* as many kernels as make the next search for unused ones worthwhile */
} jit = {.mu = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct {
    atomic_uint_fast64_t compiled, loaded, launches, unloaded;
    atomic_int_fast64_t compile_ns;
} stats;

/* ---- fork: the child has none of the threads that were building ---- */

static void
before_fork(void)
{
    pthread_mutex_lock(&jit.mu);
}

static void
after_fork(void)
{
    pthread_mutex_unlock(&jit.mu);
}

static void
jit_in_child(void)
{
    for (size_t i = 0; i < jit.kernels.cap; i++) {
        td_kernel *k = jit.kernels.slot[i].val;

        if (k && k->state == BUILDING)
            k->state = IDLE;
    }
    pthread_mutex_init(&jit.mu, NULL);
    pthread_cond_init(&jit.changed, NULL);
}

/* ---- the null device's launches ---- */

static td_hash
name_key(const char *name)
{
    return td_hash_add(TD_HASH_INIT, name, strlen(name));
}

/* Bytes of a block's shared arrays of fixed size. */
static size_t
shared_bytes(const td_fn *f)
{
    size_t n = 0;

    for (uint32_t i = 0; i < f->n; i++)
        if (f->ins[i].op == OP_shared)
            n += (size_t)f->ins[i].imm * td_dtype_size((td_dtype)f->ins[i].dt);
    return n;
}

static td_status
interpret(const char *name, const td_dims *dims, const uint64_t *args, int narg)
{
    enum { MOST = 48 << 10 }; /* the limit of the GPUs' assembler */
    const td_kernel *k;

    pthread_mutex_lock(&jit.mu);
    k = td_map_get(&jit.named, name_key(name));
    pthread_mutex_unlock(&jit.mu);
    if (!k)
        return td_fail(TD_ERR_VALUE, "%s: the null device runs kernels made from IR only", name);
    if (narg != (int)k->fn.nparam)
        return td_fail(TD_ERR_VALUE, "%s: %d arguments for %u parameters", name, narg,
                       k->fn.nparam);
    if (shared_bytes(&k->fn) > MOST)
        return td_fail(TD_ERR_VALUE, "%s uses too much shared data (%#zx bytes, %#x max)", name,
                       shared_bytes(&k->fn), MOST);
    return td_interp(&k->fn, dims->grid, dims->block, args, dims->shared, td_null_extent);
}

static void
jit_start(void)
{
    pthread_atfork(before_fork, after_fork, jit_in_child);
    td_null_on_launch(interpret);
}

/* ---- making a kernel ---- */

/* making - one kernel being made.  On the stack of the thread that makes it. */
typedef struct making {
    td_kernel *k;
    bool host; /* the interpreter runs it on host memory */
    td_dev *dev;
    const td_engine *engine;
    td_hash key; /* key of the code */
    td_build *build;
    void *ctx;
} making;

static td_status
make_ir(const making *m)
{
    td_text text = {0};
    td_fn *f = &m->k->fn;

    *f = td_fn_new(&m->k->mem, m->k->name);
    if (td_dev_info(m->dev)->simt)
        f->warp = (uint32_t)td_dev_info(m->dev)->warp;
    TD_TRY(m->build(m->ctx, f));
    TD_TRY(td_fn_finish(f));
    if (td_dump_wants("ir")) {
        td_fn_print(f, &text);
        td_dump("ir", text.s ? text.s : "");
        td_text_free(&text);
    }
    return TD_OK;
}

/* TD_SKIP: it is not on disk, or could not be loaded and was removed. */
static td_status
make_from_disk(const making *m)
{
    void *code = NULL;
    size_t nbytes;

    if (td_options()->dump) /* a dump shows every stage, so nothing may come from disk */
        return TD_SKIP;
    TD_TRY(td_cache_get(m->key, m->engine->suffix, &code, &nbytes));
    if (m->engine->load(m->dev, m->k->name, code, nbytes, &m->k->loaded)) {
        td_cache_drop(m->key, m->engine->suffix);
        free(code);
        return TD_SKIP;
    }
    free(code);
    atomic_fetch_add(&stats.loaded, 1);
    return TD_OK;
}

static td_status
make_by_compiling(const making *m)
{
    int64_t begun = td_now_ns();
    void *code = NULL;
    size_t nbytes = 0;
    td_status st;

    st = m->engine->compile(m->dev, &m->k->fn, &code, &nbytes);
    if (!st)
        st = m->engine->load(m->dev, m->k->name, code, nbytes, &m->k->loaded);
    if (!st) {
        atomic_fetch_add(&stats.compiled, 1);
        atomic_fetch_add(&stats.compile_ns, td_now_ns() - begun);
        td_cache_put(m->key, m->engine->suffix, code, nbytes);
    }
    free(code);
    return st;
}

/* The kernel's name for a profile.  A kernel of the program's own function has that name in
 * its IR, which is not there when it is loaded from disk. */
static const char *
traced_name(td_trace_kind kind, const making *m)
{
    return kind == TD_TRACE_compile && m->k->fn.name ? m->k->fn.name : m->k->name;
}

/* Runs a step and records it in the profile.  A load that finds nothing on disk (TD_SKIP) is
 * not recorded. */
static td_status
traced(td_trace_kind kind, const making *m, td_status (*step)(const making *m))
{
    td_span span;
    td_status st;

    td_span_open(&span, kind, m->dev, NULL);
    st = step(m);
    if (st != TD_SKIP)
        td_span_close(&span, st, traced_name(kind, m), 0);
    return st;
}

/* Takes the key's lock, so that one process makes the kernel, and looks on disk once more. */
static td_status
make_alone(const making *m)
{
    int lock = td_cache_lock(m->key);
    td_status st = lock < 0 ? TD_SKIP : traced(TD_TRACE_load, m, make_from_disk);

    if (st == TD_SKIP) {
        st = m->engine->interpreted ? TD_OK : make_ir(m);
        if (!st)
            st = traced(TD_TRACE_compile, m, make_by_compiling);
    }
    td_cache_unlock(lock);
    return st;
}

static td_status
jit_make(making *m)
{
    bool interpreted = m->engine->interpreted;
    td_status st = TD_OK;
    char hex[33];

    m->key = td_hash_add(m->key, TD_BUILD_ID, sizeof TD_BUILD_ID);
    TD_TRY(m->engine->key(m->dev, &m->key));
    td_hash_hex(m->key, hex);
    snprintf(m->k->name, sizeof m->k->name, "k_%.16s", hex);

    if (m->host)
        return make_ir(m);
    if (interpreted)
        st = make_ir(m);
    if (!st)
        st = traced(TD_TRACE_load, m, make_from_disk);
    if (st == TD_SKIP)
        st = make_alone(m);
    if (st || !interpreted) {
        m->k->fn = (td_fn){0};
        td_arena_free(&m->k->mem);
    }
    return st;
}

/* ---- what leaves memory ---- */

static int
by_age(const void *a, const void *b)
{
    const td_kernel *x = *(td_kernel *const *)a, *y = *(td_kernel *const *)b;

    return x->asked < y->asked ? -1 : x->asked > y->asked;
}

/* Needs jit.mu.  An interpreted kernel stays: launches find it by a name that several devices' kernels may share. */
static bool
is_unused(td_kernel *k)
{
    return k && k->state != BUILDING && !k->engine->interpreted && !atomic_load(&k->kept) &&
           !atomic_load_explicit(&k->holds, memory_order_acquire);
}

/* kernels that have left the table */
typedef struct leaving {
    size_t n;
    bool queued; /* a device may still run them */
    td_kernel *kernel[];
} leaving;

/* Needs jit.mu.  The kernels that nobody holds; *n of them.  NULL: there is no memory. */
static leaving *
find_unused(size_t *n)
{
    leaving *l = malloc(sizeof *l + jit.kernels.n * sizeof(td_kernel *));

    *n = 0;
    for (size_t i = 0; l && i < jit.kernels.cap; i++)
        if (is_unused(jit.kernels.slot[i].val))
            l->kernel[(*n)++] = jit.kernels.slot[i].val;
    return l;
}

/* Needs jit.mu.  NULL: nothing leaves. */
static leaving *
take_unused(size_t bound)
{
    leaving *l;
    size_t n;

    if (!bound || jit.kernels.n <= bound || jit.kernels.n < jit.look)
        return NULL;
    l = find_unused(&n);
    if (!l || n <= bound) {
        jit.look = jit.kernels.n + bound - n + 1; /* only then can there be more than the bound */
        free(l);
        return NULL;
    }
    qsort(l->kernel, n, sizeof(td_kernel *), by_age);
    l->n = n - bound + bound / 4;
    l->queued = false;
    for (size_t i = 0; i < l->n; i++) {
        td_map_remove(&jit.kernels, l->kernel[i]->key);
        l->queued |= l->kernel[i]->loaded.func &&
                     td_dev_info(td_func_dev(l->kernel[i]->loaded.func))->queued;
    }
    jit.look = jit.kernels.n + bound / 4 + 1;
    return l;
}

static void *
unload(void *arg)
{
    leaving *l = arg;

    for (size_t i = 0; i < l->n; i++) {
        td_kernel *k = l->kernel[i];

        if (k->loaded.func)
            k->engine->unload(&k->loaded);
        td_arena_free(&k->mem);
        free(k);
    }
    atomic_fetch_add(&stats.unloaded, l->n);
    free(l);
    return NULL;
}

/* Unloading waits for a device's work.  That may be a call of Python whose lock the calling thread holds, so another
 * thread waits. */
static void
let_leave(leaving *l)
{
    pthread_t thread;

    if (!l)
        return;
    if (!l->queued)
        unload(l);
    else if (!pthread_create(&thread, NULL, unload, l))
        pthread_detach(thread);
    /* else the kernels stay loaded, and nobody finds them */
}

/* ---- the table ---- */

/* Needs jit.mu.  The caller holds *out. */
static td_status
jit_find(td_hash key, const td_engine *engine, td_kernel **out)
{
    td_kernel *k = td_map_get(&jit.kernels, key);

    if (!k) {
        k = calloc(1, sizeof *k);
        if (!k)
            return td_fail(TD_ERR_NOMEM, "jit: a kernel's record");
        if (td_map_set(&jit.kernels, key, k)) {
            free(k);
            return TD_ERR_NOMEM;
        }
        k->key = key;
        k->engine = engine;
    }
    k->asked = ++jit.clock;
    atomic_fetch_add(&k->holds, 1);
    while (k->state == BUILDING)
        pthread_cond_wait(&jit.changed, &jit.mu);
    *out = k;
    return TD_OK;
}

/* Needs jit.mu.  Records what make() achieved and wakes the threads that wait for this kernel. */
static td_status
settle_kernel(td_kernel *k, bool interpreted, td_status st)
{
    if (!st && interpreted)
        st = td_map_set(&jit.named, name_key(k->name), k);
    k->state = st ? IDLE : READY;
    pthread_cond_broadcast(&jit.changed);
    return st;
}

static td_status
find_or_make(making m, td_kernel **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    leaving *unused = NULL;
    td_status st;

    pthread_once(&once, jit_start);
    pthread_mutex_lock(&jit.mu);
    st = jit_find(td_hash_u64(m.key, (uintptr_t)m.dev + m.host), m.engine, &m.k);
    if (!st && m.k->state == IDLE) {
        m.k->state = BUILDING;
        pthread_mutex_unlock(&jit.mu);
        st = jit_make(&m);
        pthread_mutex_lock(&jit.mu);
        st = settle_kernel(m.k, m.engine->interpreted, st);
        unused = take_unused((size_t)td_options()->kept);
    }
    pthread_mutex_unlock(&jit.mu);
    if (!st)
        *out = m.k;
    else
        td_jit_release(m.k);
    let_leave(unused);
    return st;
}

void
td_jit_release(td_kernel *k)
{
    if (k)
        atomic_fetch_sub_explicit(&k->holds, 1, memory_order_release);
}

td_status
td_jit_get(td_dev *d, td_hash key, td_build *build, void *ctx, td_kernel **out)
{
    return find_or_make(
        (making){.dev = d, .engine = td_jit_engine(d), .key = key, .build = build, .ctx = ctx},
        out);
}

bool
td_jit_interprets(void)
{
    return td_options()->kernels == TD_KERNELS_INTERPRET;
}

td_status
td_jit_interpreted(td_dev *d, td_hash key, td_build *build, void *ctx, td_kernel **out)
{
    return find_or_make((making){.dev = d,
                                 .host = true,
                                 .engine = td_jit_engine(d),
                                 .key = key,
                                 .build = build,
                                 .ctx = ctx},
                        out);
}

/* Interprets a kernel on host memory, where any address is valid. */
static td_status
interpret_here(const td_kernel *k, const td_dims *dims, const uint64_t *args, int narg)
{
    TD_TRY(td_tape_refuse("a kernel that is interpreted"));
    if (narg != (int)k->fn.nparam)
        return td_fail(TD_ERR_VALUE, "%s: %d arguments for %u parameters", k->name, narg,
                       k->fn.nparam);
    return td_interp(&k->fn, dims->grid, dims->block, args, dims->shared, NULL);
}

/* Passes what fibers need to know about the launch after the arguments. */
static td_status
launch_turns(const td_kernel *k, td_stream *s, const td_dims *dims, const uint64_t *args, int narg)
{
    uint64_t words[narg + 1];
    td_kfiber_launch turns;
    td_status st, own;

    TD_TRY(td_tape_refuse("a kernel whose threads take turns"));
    memcpy(words, args, (size_t)narg * sizeof *words);
    words[narg] = (uintptr_t)&turns;
    td_kfiber_launch_init(&turns, k->name, dims->shared);
    st = td_launch(k->loaded.func, s, dims, words, narg + 1);
    own = td_kfiber_launch_status(&turns);
    return st ? st : own;
}

td_status
td_jit_launch(td_kernel *k, td_stream *s, const td_dims *dims, const uint64_t *args, int narg)
{
    atomic_fetch_add_explicit(&stats.launches, 1, memory_order_relaxed);
    if (td_tape_now())
        atomic_store(&k->kept, true);
    if (k->loaded.turns)
        return launch_turns(k, s, dims, args, narg);
    return k->loaded.func ? td_launch(k->loaded.func, s, dims, args, narg)
                          : interpret_here(k, dims, args, narg);
}

const char *
td_jit_name(const td_kernel *k)
{
    return k->name;
}

const char *
td_jit_label(const td_kernel *k)
{
    return atomic_load_explicit(&k->label, memory_order_acquire);
}

void
td_jit_set_label(td_kernel *k, const char *text)
{
    atomic_store_explicit(&k->label, text, memory_order_release);
}

td_func *
td_jit_func(const td_kernel *k)
{
    return k->loaded.func;
}

int
td_jit_lanes(td_dev *d, int size)
{
    int width = td_jit_engine(d)->width();

    return size < width ? width / size : 1;
}

td_jitstat
td_jit_stats(void)
{
    return (td_jitstat){
        .compiled = atomic_load(&stats.compiled),
        .loaded = atomic_load(&stats.loaded),
        .launches = atomic_load(&stats.launches),
        .unloaded = atomic_load(&stats.unloaded),
        .compile_ns = atomic_load(&stats.compile_ns),
    };
}

const char *
td_jit_warning(void)
{
    return td_cache_warning();
}
