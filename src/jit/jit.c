/* jit.c - kernels by key: in memory, then on disk, then built.
 *
 * A kernel is made by the thread that asked first, outside the lock, so that several kernels compile
 * at once; who asks for the same one waits.  A failure is not kept: the next to ask tries again.
 */
#include "jit/jit.h"

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
#include <time.h>

typedef enum state { IDLE, BUILDING, READY } state;

/* td_kernel - one kernel on one device.  Lives as long as the process. */
struct td_kernel {
    state state;   /* guarded by jit.mu; the rest is constant once READY */
    char name[20]; /* "k_" and the key's first 16 digits */
    td_func *func;
    bool turns;                  /* launched with a td_kfiber_launch */
    _Atomic(const char *) label; /* td_jit_set_label */
    td_arena mem;                /* of fn */
    td_fn fn;                    /* interpreted engines only */
};

static struct {
    pthread_mutex_t mu;
    pthread_cond_t changed; /* a kernel left BUILDING */
    td_map kernels;         /* by the caller's key and device */
    td_map named;           /* interpreted ones, by name */
} jit = {.mu = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct {
    atomic_uint_fast64_t compiled, loaded, launches;
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

/* Bytes of a block's shared arrays whose extents the kernel says. */
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
    enum { MOST = 48 << 10 }; /* what GPUs' assembler takes */
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

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* One kernel on its way.  On the making thread's stack. */
typedef struct making {
    td_kernel *k;
    bool host; /* the interpreter runs it on the CPU's memory */
    td_dev *dev;
    const td_engine *engine;
    td_hash key; /* of the code */
    td_build *build;
    void *ctx;
} making;

static td_status
make_ir(const making *m)
{
    td_text text = {0};
    td_fn *f = &m->k->fn;

    *f = td_fn_new(&m->k->mem, m->k->name);
    TD_TRY(m->build(m->ctx, f));
    TD_TRY(td_fn_finish(f));
    if (td_dump_wants("ir")) {
        td_fn_print(f, &text);
        fprintf(stderr, "%s\n", text.s ? text.s : "");
        td_text_free(&text);
    }
    return TD_OK;
}

/* TD_SKIP: not on disk, or what was there could not be loaded and is gone. */
static td_status
make_from_disk(const making *m)
{
    void *code = NULL;
    size_t nbytes;

    if (td_options()->dump) /* every stage is to be seen */
        return TD_SKIP;
    TD_TRY(td_cache_get(m->key, m->engine->suffix, &code, &nbytes));
    if (m->engine->load(m->dev, m->k->name, code, nbytes, &m->k->func, &m->k->turns)) {
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
    int64_t begun = now_ns();
    void *code = NULL;
    size_t nbytes = 0;
    td_status st;

    st = m->engine->compile(m->dev, &m->k->fn, &code, &nbytes);
    if (!st)
        st = m->engine->load(m->dev, m->k->name, code, nbytes, &m->k->func, &m->k->turns);
    if (!st) {
        atomic_fetch_add(&stats.compiled, 1);
        atomic_fetch_add(&stats.compile_ns, now_ns() - begun);
        td_cache_put(m->key, m->engine->suffix, code, nbytes);
    }
    free(code);
    return st;
}

/* Kernels of the program's own functions have those names in the IR; it is not there when one is loaded. */
static const char *
name_of(td_trace_kind kind, const making *m)
{
    return kind == TD_TRACE_compile && m->k->fn.name ? m->k->fn.name : m->k->name;
}

/* What is not on disk has not been loaded: no word of it. */
static td_status
traced(td_trace_kind kind, const making *m, td_status (*step)(const making *m))
{
    td_span span;
    td_status st;

    td_span_open(&span, kind, m->dev, NULL);
    st = step(m);
    if (st != TD_SKIP)
        td_span_close(&span, st, name_of(kind, m), 0);
    return st;
}

/* By one process at a time, which looks at the disk again. */
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

/* ---- the table ---- */

/* With jit.mu held. */
static td_status
jit_find(td_hash key, td_kernel **out)
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
    }
    while (k->state == BUILDING)
        pthread_cond_wait(&jit.changed, &jit.mu);
    *out = k;
    return TD_OK;
}

/* With jit.mu held: what make() came to is told to those who wait. */
static td_status
settle(td_kernel *k, bool interpreted, td_status st)
{
    if (!st && interpreted)
        st = td_map_set(&jit.named, name_key(k->name), k);
    k->state = st ? IDLE : READY;
    pthread_cond_broadcast(&jit.changed);
    return st;
}

static td_status
get(making m, td_kernel **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    td_status st;

    pthread_once(&once, jit_start);
    pthread_mutex_lock(&jit.mu);
    st = jit_find(td_hash_u64(m.key, (uintptr_t)m.dev + m.host), &m.k);
    if (!st && m.k->state == IDLE) {
        m.k->state = BUILDING;
        pthread_mutex_unlock(&jit.mu);
        st = jit_make(&m);
        pthread_mutex_lock(&jit.mu);
        st = settle(m.k, m.engine->interpreted, st);
    }
    pthread_mutex_unlock(&jit.mu);
    if (!st)
        *out = m.k;
    return st;
}

td_status
td_jit_get(td_dev *d, td_hash key, td_build *build, void *ctx, td_kernel **out)
{
    return get(
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
    return get((making){.dev = d,
                        .host = true,
                        .engine = td_jit_engine(d),
                        .key = key,
                        .build = build,
                        .ctx = ctx},
               out);
}

/* On the CPU's memory, where any address is a kernel's. */
static td_status
interpret_here(const td_kernel *k, const td_dims *dims, const uint64_t *args, int narg)
{
    TD_TRY(td_tape_refuse("a kernel that is interpreted"));
    if (narg != (int)k->fn.nparam)
        return td_fail(TD_ERR_VALUE, "%s: %d arguments for %u parameters", k->name, narg,
                       k->fn.nparam);
    return td_interp(&k->fn, dims->grid, dims->block, args, dims->shared, NULL);
}

/* Threads that take turns find what the launch knows behind the arguments. */
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
    st = td_launch(k->func, s, dims, words, narg + 1);
    own = td_kfiber_launch_status(&turns);
    return st ? st : own;
}

td_status
td_jit_launch(td_kernel *k, td_stream *s, const td_dims *dims, const uint64_t *args, int narg)
{
    atomic_fetch_add_explicit(&stats.launches, 1, memory_order_relaxed);
    if (k->turns)
        return launch_turns(k, s, dims, args, narg);
    return k->func ? td_launch(k->func, s, dims, args, narg) : interpret_here(k, dims, args, narg);
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
    return k->func;
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
        .compile_ns = atomic_load(&stats.compile_ns),
    };
}

const char *
td_jit_warning(void)
{
    return td_cache_warning();
}
