/* share.c - handles of memory for other processes: the ledger, sent handles, received handles
 * (share.h).
 */
#include "dev/pool/share.h"

#include "dev/pool/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum state { FREE, SENT, RECEIVED } state;

/* record - a handle's entry in the ledger. */
typedef struct record {
    uint32_t generation, state;
} record;

/* sent - a handle that may be in use; listed as long as it may be. */
typedef struct sent {
    struct sent *next;
    td_buf *buf; /* a reference */
    uint32_t slot, generation;
    bool own; /* this process received it too, which takes no lock */
} sent;

/* region - another process's memory, opened once.  Lives as long as there are leases on it. */
typedef struct region {
    struct region *next;
    td_dev *dev;
    unsigned char piece[64];
    uintptr_t base;
    size_t nbytes;
    int uses;
} region;

/* lease - a received handle.  Owned by its buffer, then by the list of returned leases. */
typedef struct lease {
    struct lease *next;
    region *region;
    int fd;         /* the sender's ledger; holds the lock */
    td_event *done; /* recorded when the lease was returned */
} lease;

static struct {
    pthread_mutex_t mu;
    pid_t pid; /* the process whose ledger it is: a forked child has none of its own yet */
    int fd;
    uint64_t inode;
    uint32_t slots, generation;
    sent *list;
    region *regions;
    atomic_int busy; /* how many sent handles and returned leases there are */
    _Atomic(lease *) returned;
} share = {.mu = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* ---- records ---- */

static bool
read_record(int fd, uint32_t slot, record *r)
{
    return pread(fd, r, sizeof *r, (off_t)(slot * sizeof *r)) == (ssize_t)sizeof *r;
}

static bool
write_record(int fd, uint32_t slot, record r)
{
    return pwrite(fd, &r, sizeof r, (off_t)(slot * sizeof r)) == (ssize_t)sizeof r;
}

/* Locks a record (F_RDLCK, F_WRLCK) or unlocks it (F_UNLCK).  False: others hold it. */
static bool
lock_record(int fd, uint32_t slot, short how)
{
    struct flock l = {.l_type = how,
                      .l_whence = SEEK_SET,
                      .l_start = (off_t)(slot * sizeof(record)),
                      .l_len = sizeof(record)};

    return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

/* ---- sending, under the lock ---- */

static td_status
open_ledger(void)
{
    struct stat s;

    if (share.fd >= 0 && share.pid == getpid())
        return TD_OK;
    share.list = NULL; /* the list is the parent's, which holds the references */
    share.fd = memfd_create("treadle-shared", MFD_CLOEXEC);
    if (share.fd < 0 || fstat(share.fd, &s))
        return td_fail(TD_ERR_IO, "sharing memory: memfd_create: %s", strerror(errno));
    share.pid = getpid();
    share.inode = s.st_ino;
    share.slots = 0;
    atomic_store(&share.busy, 0);
    return TD_OK;
}

/* May the handle's memory be freed?  If so, nobody can receive it any more. */
static bool
retract(const sent *s)
{
    record r;
    bool gone;

    if (s->own && atomic_load(&s->buf->refs) > 1)
        return false;
    if (!read_record(share.fd, s->slot, &r) || r.state != RECEIVED ||
        !lock_record(share.fd, s->slot, F_WRLCK))
        return false;
    gone = write_record(share.fd, s->slot, (record){s->generation, FREE});
    (void)lock_record(share.fd, s->slot, F_UNLCK);
    return gone;
}

/* Takes the handles that were received and given back off the list; returns them as a list. */
static sent *
collect_sent(void)
{
    sent *gone = NULL;

    if (share.pid != getpid())
        return NULL;
    for (sent **at = &share.list, *s; (s = *at);) {
        if (retract(s)) {
            *at = s->next;
            s->next = gone;
            gone = s;
        } else {
            at = &s->next;
        }
    }
    return gone;
}

static uint32_t
free_slot(void)
{
    record r;

    for (uint32_t i = 0; i < share.slots; i++)
        if (read_record(share.fd, i, &r) && r.state == FREE)
            return i;
    return share.slots++;
}

static td_status
share_enter(sent *s, td_handle *h)
{
    TD_TRY(open_ledger());
    s->slot = free_slot();
    s->generation = ++share.generation;
    if (!write_record(share.fd, s->slot, (record){s->generation, SENT}))
        return td_fail(TD_ERR_IO, "sharing memory: %s", strerror(errno));
    h->pid = share.pid;
    h->ledger = share.inode;
    h->fd = share.fd;
    h->slot = s->slot;
    h->generation = s->generation;
    s->next = share.list;
    share.list = s;
    atomic_fetch_add(&share.busy, 1);
    return TD_OK;
}

bool
td_share_can(const td_buf *b)
{
    return b->dev->ops->share && b->dev->ops->share(b->dev, b, NULL) == TD_OK;
}

td_status
td_share_send(td_buf *b, td_handle *out)
{
    td_handle h = {.nbytes = b->nbytes};
    td_shared piece = {.base = 0};
    sent *s = calloc(1, sizeof *s);
    td_status st;

    if (!s)
        return td_fail(TD_ERR_NOMEM, "sharing memory: no host memory for its record");
    td_share_poll();
    st = b->dev->ops->share
             ? b->dev->ops->share(b->dev, b, &piece)
             : td_fail(TD_ERR_VALUE, "%s: its memory cannot be shared", b->dev->info.name);
    st = st ? st : td_dev_sync(b->dev);
    if (!st) {
        snprintf(h.device, sizeof h.device, "%s", b->dev->info.name);
        memcpy(h.piece, piece.bytes, sizeof h.piece);
        h.base_bytes = piece.nbytes;
        h.offset = b->ptr - piece.base;
        s->buf = b;
        pthread_mutex_lock(&share.mu);
        st = share_enter(s, &h);
        pthread_mutex_unlock(&share.mu);
    }
    if (st) {
        free(s);
        return st;
    }
    (void)td_buf_ref(b); // NOLINT(clang-analyzer-unix.Malloc): s is in the list
    *out = h;
    return TD_OK;
}

int
td_share_waiting(void)
{
    record r;
    int n = 0;

    pthread_mutex_lock(&share.mu);
    for (const sent *s = share.pid == getpid() ? share.list : NULL; s; s = s->next)
        n += read_record(share.fd, s->slot, &r) && r.state == SENT;
    pthread_mutex_unlock(&share.mu);
    return n;
}

/* ---- receiving ---- */

static td_status
gone(const td_handle *h)
{
    return td_fail(
        TD_ERR_VALUE,
        "shared array: process %lld, which sent it, has ended or has let go of the memory; "
        "a sender lives until its arrays are received, and on a GPU as long as they are used",
        (long long)h->pid);
}

/* Opens the sender's ledger and locks the handle's record; -1: the handle is gone. */
static int
share_take(const td_handle *h)
{
    char path[64];
    struct stat s;
    record r;
    int fd;

    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)h->pid, h->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &s) == 0 && s.st_ino == h->ledger && lock_record(fd, h->slot, F_RDLCK) &&
        read_record(fd, h->slot, &r) && r.generation == h->generation && r.state != FREE &&
        write_record(fd, h->slot, (record){h->generation, RECEIVED}))
        return fd;
    close(fd);
    return -1;
}

/* The buffer itself, if this process sent the handle.  NULL: it did not, or the buffer is
 * gone. */
static td_buf *
find_own(const td_handle *h)
{
    td_buf *b = NULL;

    pthread_mutex_lock(&share.mu);
    if (h->pid == getpid() && share.pid == getpid() && h->ledger == share.inode)
        for (sent *s = share.list; s && !b; s = s->next)
            if (s->slot == h->slot && s->generation == h->generation) {
                (void)write_record(share.fd, s->slot, (record){s->generation, RECEIVED});
                s->own = true;
                b = td_buf_ref(s->buf);
            }
    pthread_mutex_unlock(&share.mu);
    return b;
}

/* The handle's region, opened at its first use. */
static td_status
open_shared_region(td_dev *d, const td_handle *h, region **out)
{
    td_shared piece = {.nbytes = h->base_bytes};
    region *r = share.regions;

    while (r && (r->dev != d || memcmp(r->piece, h->piece, sizeof r->piece) != 0))
        r = r->next;
    if (!r) {
        memcpy(piece.bytes, h->piece, sizeof piece.bytes);
        TD_TRY(d->ops->share_open(d, &piece));
        r = calloc(1, sizeof *r);
        if (!r) {
            (void)d->ops->share_close(d, &piece);
            return td_fail(TD_ERR_NOMEM, "shared array: no host memory for its record");
        }
        memcpy(r->piece, h->piece, sizeof r->piece);
        r->dev = d;
        r->base = piece.base;
        r->nbytes = piece.nbytes;
        r->next = share.regions;
        share.regions = r;
    } else if (h->base_bytes > r->nbytes) {
        return td_fail(TD_ERR_VALUE,
                       "shared array: the handle tells of %llu bytes of a piece of %zu",
                       (unsigned long long)h->base_bytes, r->nbytes);
    }
    r->uses++;
    *out = r;
    return TD_OK;
}

static void
close_region(region *r)
{
    td_shared piece = {.base = r->base, .nbytes = r->nbytes};

    if (--r->uses)
        return;
    for (region **at = &share.regions; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    (void)r->dev->ops->share_close(r->dev, &piece); /* the device's next user gets the failure */
    free(r);
}

/* The buffer is freed; the device may still use its memory. */
static void
give_back(void *owner)
{
    lease *l = owner;

    l->next = atomic_load(&share.returned);
    while (!atomic_compare_exchange_weak(&share.returned, &l->next, l))
        ;
    atomic_fetch_add(&share.busy, 1);
    if (!l->region->dev->ops->event_new)
        td_share_poll();
}

td_status
td_share_receive(const td_handle *h, td_buf **out)
{
    lease *l;
    td_dev *d;
    td_status st;

    td_share_poll();
    *out = find_own(h);
    if (*out)
        return TD_OK;
    if (memchr(h->device, 0, sizeof h->device) == NULL || h->offset > h->base_bytes ||
        h->nbytes > h->base_bytes - h->offset)
        return td_fail(TD_ERR_VALUE, "shared array: this is not a handle");
    TD_TRY(td_dev_get(h->device, &d));
    l = calloc(1, sizeof *l);
    if (!l)
        return td_fail(TD_ERR_NOMEM, "shared array: no host memory for its record");
    l->fd = h->pid == getpid() ? -1 : share_take(h);
    if (l->fd < 0) {
        free(l);
        return gone(h);
    }
    pthread_mutex_lock(&share.mu);
    st = open_shared_region(d, h, &l->region);
    pthread_mutex_unlock(&share.mu);
    if (!st) {
        st = td_buf_wrap(d, (void *)(l->region->base + h->offset), h->nbytes, give_back, l, out);
        if (!st)
            return TD_OK;
        pthread_mutex_lock(&share.mu);
        close_region(l->region);
        pthread_mutex_unlock(&share.mu);
    }
    close(l->fd);
    free(l);
    return st;
}

/* ---- returning leases ---- */

/* Has the device finished with l's memory?  Asks the event, or waits without one. */
static bool
is_idle(lease *l)
{
    td_dev *d = l->region->dev;
    bool done = true;

    if (!d->ops->event_new)
        return true;
    if (!l->done && (td_event_new(d, false, &l->done) || td_event_record(l->done, &d->def))) {
        (void)td_dev_sync(d);
        return true;
    }
    return td_event_done(l->done, &done) || done;
}

void
td_share_poll(void)
{
    lease *list, *next;
    sent *done, *more;

    if (atomic_load_explicit(&share.busy, memory_order_relaxed) == 0)
        return;
    list = atomic_exchange(&share.returned, NULL);
    for (lease *l = list; l; l = next) {
        next = l->next;
        if (!is_idle(l)) {
            l->next = atomic_load(&share.returned);
            while (!atomic_compare_exchange_weak(&share.returned, &l->next, l))
                ;
            continue;
        }
        td_event_free(l->done);
        pthread_mutex_lock(&share.mu);
        close_region(l->region);
        pthread_mutex_unlock(&share.mu);
        close(l->fd); /* which also unlocks the record */
        free(l);
        atomic_fetch_sub(&share.busy, 1);
    }
    pthread_mutex_lock(&share.mu);
    done = collect_sent();
    pthread_mutex_unlock(&share.mu);
    for (; done; done = more) {
        more = done->next;
        td_buf_unref(done->buf);
        free(done);
        atomic_fetch_sub(&share.busy, 1);
    }
}

td_status
td_share_new(td_dev *d, size_t nbytes, td_buf **out)
{
    return d->ops->share_new
               ? d->ops->share_new(d, nbytes, out)
               : td_fail(TD_ERR_VALUE, "%s: its memory cannot be shared", d->info.name);
}

void
td_share_lock(bool lock)
{
    if (lock)
        pthread_mutex_lock(&share.mu);
    else
        pthread_mutex_unlock(&share.mu);
}
