/* block.c - moves a block's value between the program's memory and treadle, with the GIL held.
 *
 * On the CPU a closed block lends its memory: the leaf of `whole` is that memory.  If the program
 * is about to write there while recorded work still reads the old value, that work gets a copy.
 * If treadle is about to write, the pages move to another address, and the block is ahead.
 */
#include "python/unchanged/unchanged.h"

#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/graph/memwait.h"
#include "array/graph/values.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* px_lent - pages that a buffer of treadle uses: a block's, or after they have parted its own. */
typedef struct px_lent {
    td_buf *buf; /* borrowed: freeing the buffer frees this record */
    px_block *b; /* NULL: the pages belong to the buffer */
    char *at;
    size_t room;
} px_lent;

enum { RESULT_LEAST = 1 << 20 }; /* bytes; to copy fewer takes less than to move their pages */

static _Thread_local uint16_t own_writes; /* open calls of px_write_begin in this thread */
static pthread_mutex_t lending = PTHREAD_MUTEX_INITIALIZER; /* buffers may be freed in any thread */

static void
lent_end(void *owner)
{
    px_lent *l = owner;
    bool own;

    pthread_mutex_lock(&lending);
    own = !l->b;
    if (l->b)
        l->b->lent = NULL;
    pthread_mutex_unlock(&lending);
    if (own)
        px_pages_free(l->at, l->room, true);
    free(l);
}

/* Lets other threads run; they do not wait for this one. */
static void
step_aside(void)
{
    td_memwait_idle(true);
    td_graph_yield();
    td_memwait_idle(false);
}

/* Another thread may be running a kernel that reads the memory by address: lets it finish, and
 * the caller checks again. */
static bool
lets_go_on(const px_block *b)
{
    if (!b->lent || !td_memwait_working())
        return false;
    step_aside();
    return true;
}

/* The buffer of l has memory of its own from now on, at `at`: readable, and writable if the system allows it. */
static void
lent_part(px_lent *l, char *at, bool writable)
{
    l->b->lent = NULL;
    l->b = NULL;
    l->at = at;
    l->buf->ptr = (uintptr_t)at;
    if (writable) {
        atomic_fetch_and(&l->buf->flags, ~TD_BUF_GUARDED);
        atomic_fetch_or(&l->buf->flags, TD_BUF_GIVEN);
    }
}

/* ---- open -> clean ---- */

/* A leaf over the block's memory. */
static td_status
lend(px_block *b, td_dev *cpu, td_dtype dt, const td_view *layout, td_node **out)
{
    px_lent *l = calloc(1, sizeof *l);
    td_status st;

    if (!l)
        return td_fail(TD_ERR_NOMEM, "array: out of host memory");
    *l = (px_lent){.b = b, .at = b->at, .room = b->room};
    st = td_buf_wrap(cpu, b->at, (size_t)td_shape_size(&layout->shape) * td_dtype_size(dt),
                     lent_end, l, &l->buf);
    if (st) {
        free(l);
        return st;
    }
    atomic_fetch_or(&l->buf->flags, TD_BUF_GUARDED);
    b->lent = l;
    st = td_node_leaf(l->buf, dt, layout, out);
    td_buf_unref(l->buf);
    return st;
}

td_status
px_block_close(px_block *b, td_dev *d, td_dtype dt, const td_shape *shape)
{
    td_view layout = td_view_contiguous(shape);
    td_array whole;
    td_node *leaf;
    td_status st;

    if (!px_protect(b->at, b->room, PX_CLEAN))
        return td_fail(TD_ERR_NOMEM, "array: the system does not protect %zu bytes", b->room);
    if (td_dev_info(d)->host)
        st = lend(b, d, dt, &layout, &leaf) ? TD_ERR_NOMEM : td_array_of_node(leaf, &whole);
    else
        st = td_array_from_host(d, dt, shape, b->at, &whole);
    if (!st && b->state != PX_OPEN) { /* another thread has done it */
        td_array_unref(&whole);
        return TD_OK;
    }
    if (st) {
        (void)px_protect(b->at, b->room, PX_OPEN);
        return st;
    }
    b->whole = whole;
    px_block_turn(b, PX_CLEAN);
    b->worn = 0;
    return TD_OK;
}

/* ---- results: pages that can become a block's ---- */

td_status
px_buf_new(td_dev *d, size_t nbytes, td_buf **out)
{
    size_t room = px_room(nbytes);
    px_lent *l;
    td_status st;

    if (nbytes < RESULT_LEAST || !(l = calloc(1, sizeof *l)))
        return TD_SKIP;
    *l = (px_lent){.at = px_pages_new(room), .room = room};
    st = l->at ? td_buf_wrap(d, l->at, nbytes, lent_end, l, &l->buf) : TD_SKIP;
    if (st) {
        if (l->at)
            px_pages_free(l->at, room, true);
        free(l);
        return TD_SKIP;
    }
    atomic_fetch_or(&l->buf->flags, TD_BUF_GIVEN);
    *out = l->buf;
    return TD_OK;
}

/* ---- ahead -> clean ---- */

static td_array
flat(const px_block *b)
{
    int64_t n = (int64_t)(b->nbytes / td_dtype_size((td_dtype)b->whole.store->dt));
    td_view v = {.shape = {.ndim = 1, .dim = {n}}, .stride = {1}};
    td_array whole = b->whole;

    whole.dt = b->whole.store->dt;
    return td_array_view(&whole, &v);
}

/* The pages of the value's buffer become the block's, where the buffer has pages of its own. */
static bool
take_pages(px_block *b)
{
    td_node *n = b->whole.store->node;
    px_lent *l = td_node_on_host(n) && n->buf->release == lent_end ? n->buf->owner : NULL;
    char *from;

    if (!l || l->room != b->room || atomic_load(&n->buf->lent) ||
        atomic_load(&n->buf->flags) & TD_BUF_SHARED || td_memwait_working())
        return false;
    from = l->at;
    if (!px_pages_move(from, b->at, b->room, PX_CLEAN))
        return false;
    pthread_mutex_lock(&lending);
    l->b = b;
    l->at = b->at;
    b->lent = l;
    l->buf->ptr = (uintptr_t)b->at;
    atomic_fetch_or(&l->buf->flags, TD_BUF_GUARDED);
    atomic_fetch_and(&l->buf->flags, ~TD_BUF_GIVEN);
    pthread_mutex_unlock(&lending);
    px_pages_free(from, b->room, false);
    px_block_turn(b, PX_CLEAN);
    return true;
}

/* Computes a pending value where its pages can be taken. */
static td_status
compute(const px_block *b)
{
    td_node *n = b->whole.store->node;

    if (!td_dev_info(n->dev)->host || !td_node_pending(n) || td_node_spilled(n) || n->hosted ||
        n->watch || td_capture_now())
        return TD_OK;
    return td_array_eval(&(const td_array *){&b->whole}, 1);
}

static td_status
copy_into(const px_block *b, char *to)
{
    td_array all = flat(b);
    td_status st = td_array_get(&all, to);

    td_array_unref(&all);
    return st;
}

/* On the CPU the block's memory becomes the value, so that there is only one copy. */
static void
take_over(px_block *b)
{
    td_storage *s = b->whole.store;
    td_node *leaf;

    if (td_dev_info(s->dev)->host && !b->lent && s->node->refs == 1 &&
        !lend(b, s->dev, (td_dtype)s->dt, &s->node->view, &leaf))
        td_storage_set(s, leaf);
}

td_status
px_block_fetch(px_block *b)
{
    TD_TRY(px_choice_settle(b));
    while (b->state == PX_AHEAD) {
        uint32_t version = b->whole.store->version;
        char *to;
        td_status st;
        bool moved;

        if (b->writers > own_writes) {
            step_aside();
            continue;
        }
        TD_TRY(compute(b));
        if (b->state != PX_AHEAD || b->whole.store->version != version)
            continue;
        if (take_pages(b))
            break;
        to = px_pages_new(b->room);
        if (!to)
            return td_fail(TD_ERR_NOMEM, "array: no memory for %zu bytes of values", b->nbytes);
        st = copy_into(b, to);
        if (st || b->state != PX_AHEAD || b->whole.store->version != version) {
            px_pages_free(to, b->room, true); /* another thread has fetched it, or has written */
            TD_TRY(st);
            continue;
        }
        moved = px_pages_move(to, b->at, b->room, PX_CLEAN);
        px_pages_free(to, b->room, !moved);
        if (!moved)
            return td_fail(TD_ERR_NOMEM, "array: the system does not move %zu bytes of pages",
                           b->room);
        px_block_turn(b, PX_CLEAN);
        take_over(b);
    }
    return TD_OK;
}

/* ---- clean -> open, clean -> ahead ---- */

td_status
px_block_open(px_block *b)
{
    char *at = NULL;

    do
        TD_TRY(px_block_fetch(b));
    while (b->state == PX_CLEAN && lets_go_on(b));
    if (b->state == PX_OPEN)
        return TD_OK;
    if (b->lent && !(at = px_pages_new(b->room)))
        return td_fail(TD_ERR_NOMEM, "array: no memory for a copy of %zu bytes", b->nbytes);
    td_array_unref(&b->whole);
    pthread_mutex_lock(&lending);
    if (b->lent) { /* recorded work reads the old value */
        memcpy(at, b->at, b->nbytes);
        lent_part(b->lent, at, true);
        at = NULL;
    }
    pthread_mutex_unlock(&lending);
    if (at)
        px_pages_free(at, b->room, true);
    if (!px_protect(b->at, b->room, PX_OPEN))
        return td_fail(TD_ERR_NOMEM, "array: the system does not open %zu bytes", b->room);
    px_block_turn(b, PX_OPEN);
    return TD_OK;
}

/* clean -> ahead */
static td_status
retract(px_block *b)
{
    char *to;

    while (b->state == PX_CLEAN && lets_go_on(b))
        ;
    if (b->state != PX_CLEAN)
        return TD_OK;
    pthread_mutex_lock(&lending);
    if (b->lent && (to = px_pages_new(b->room)) != NULL) {
        if (!px_pages_move(b->at, to, b->room, PX_OPEN))
            memcpy(to, b->at, b->nbytes);
        lent_part(b->lent, to, true);
    }
    pthread_mutex_unlock(&lending);
    if (b->lent)
        return td_fail(TD_ERR_NOMEM, "array: no memory for %zu bytes of values", b->nbytes);
    px_pages_drop(b->at, b->room);
    px_block_turn(b, PX_AHEAD);
    return TD_OK;
}

td_status
px_write_begin(px_block *b)
{
    td_status st;

    b->writers++; /* nobody fetches the value between the two calls */
    own_writes++;
    st = retract(b);
    if (st)
        px_write_end(b);
    return st;
}

void
px_write_end(px_block *b)
{
    b->writers--;
    own_writes--;
}

/* ---- small parts of a block ---- */

/* Reading single elements from a GPU takes 10 us each; bringing the array to the host and back
 * costs two copies at 20 GB/s. This many bytes cost as much as one element.  On a CPU bringing it costs page faults
 * and changes of protection, 50 to 100 us, and a small part that treadle writes some 3 us more than NumPy's. */
enum { WEAR_BYTES = 100000, WEAR_LEAST = 3, WEAR_HOST = 20 };

bool
px_block_wears(px_block *b)
{
    b->worn++;
    if (td_dev_info(td_array_dev(&b->whole))->host)
        return b->worn >= WEAR_HOST;
    return b->worn >= WEAR_LEAST && (int64_t)b->worn * WEAR_BYTES >= (int64_t)b->nbytes;
}

/* ---- the end of a block ---- */

/* The program measures time: a result that it drops unseen, that nothing waits for, and that no kernel has computed on its way
 * to another, is computed as NumPy would.  Its failures are ignored, since nobody asked for it. */
static void
compute_unseen(px_block *b)
{
    PyObject *type, *value, *trace;

    if (!px.timed || px_busy || b->state != PX_AHEAD || b->of || td_capture_now() ||
        !b->whole.store || /* a choice whose elements nobody has counted */
        !td_node_pending(b->whole.store->node) || b->whole.store->node->refs != 1 ||
        b->whole.store->node->computed)
        return;
    PyErr_Fetch(&type, &value, &trace);
    (void)td_array_eval(&(const td_array *){&b->whole}, 1);
    PyErr_Restore(type, value, trace);
}

void
px_block_end(px_block *b)
{
    px_lent *l;

    px_choice_end(b);
    compute_unseen(b);
    if (b->state != PX_OPEN)
        td_array_unref(&b->whole);
    pthread_mutex_lock(&lending);
    l = b->lent;
    if (l)
        lent_part(l, b->at,
                  px_protect(b->at, b->room, PX_OPEN)); /* the pages stay with their readers */
    pthread_mutex_unlock(&lending);
    if (l)
        px_block_leave(b);
    else
        px_block_free(b);
}
