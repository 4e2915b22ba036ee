/* t_nccl.c - groups of devices and copies between them: order with other work, refusals, failures, ends.
 * What collectives compute is tested from Python. */
#include "dev/core/devops.h"
#include "dev/core/nccl.h"
#include "null/null.h"

#include "check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { N = 3, COUNT = 1000 };

static td_dev *dev[N];
static const int ranks[N] = {0, 1, 2};

static td_buf *
filled(td_dev *d, float x)
{
    float host[COUNT];
    td_buf *b = NULL;

    for (int i = 0; i < COUNT; i++)
        host[i] = x + (float)i;
    CHECK_OK(td_buf_new(d, NULL, sizeof host, &b));
    CHECK_OK(td_copy_in(td_dev_stream(d), b->ptr, host, sizeof host));
    return b;
}

static bool
holds(const td_buf *b, float x, float step)
{
    float host[COUNT];
    bool same = td_copy_out(td_dev_stream(b->dev), host, b->ptr, sizeof host) == TD_OK;

    for (int i = 0; i < COUNT; i++)
        same = same && host[i] == x + step * (float)i;
    return same;
}

static void
join_all(td_comm **comm)
{
    unsigned char id[TD_COMM_ID];

    CHECK_OK(td_comm_id(dev[0], id));
    CHECK_OK(td_comm_new(dev, ranks, N, N, id, comm));
}

static td_comm_call
sum_of(td_comm *c, const td_buf *src, const td_buf *dst, td_stream *s)
{
    return (td_comm_call){.comm = c,
                          .op = TD_COMM_all_reduce,
                          .dt = TD_F32,
                          .count = COUNT,
                          .src = src->ptr,
                          .dst = dst->ptr,
                          .stream = s};
}

/* Work that is done late: what is combined has been written before, and what follows sees the sums. */
static void
test_order(void)
{
    td_comm *comm[N];

    join_all(comm);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        td_comm_call call[N];
        td_buf *src[N], *dst[N];

        td_null_delay(seed);
        for (int i = 0; i < N; i++) {
            td_stream *own = td_comm_stream(comm[i]);

            src[i] = filled(dev[i], (float)i);
            dst[i] = filled(dev[i], -1);
            CHECK_OK(td_stream_follow(own, td_dev_stream(dev[i])));
            call[i] = sum_of(comm[i], src[i], dst[i], own);
        }
        CHECK_OK(td_comm_run(call, N));
        for (int i = 0; i < N; i++) {
            CHECK_OK(td_stream_follow(td_dev_stream(dev[i]), td_comm_stream(comm[i])));
            CHECK(holds(dst[i], 3, 3));
            td_buf_use(src[i], td_comm_stream(comm[i]));
            td_buf_use(dst[i], td_comm_stream(comm[i]));
            td_buf_unref(src[i]);
            td_buf_unref(dst[i]);
        }
    }
    td_null_delay(0);
    for (int i = 0; i < N; i++)
        td_comm_free(comm[i]);
}

/* Round and round through three devices: each copy comes behind what wrote its source and read its target. */
static void
test_copies(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        td_buf *b[N], *back;

        td_null_delay(seed);
        for (int i = 0; i < N; i++)
            b[i] = filled(dev[i], (float)i);
        back = filled(dev[0], -1);
        CHECK_OK(td_copy_peer(dev[1], b[1]->ptr, dev[0], b[0]->ptr, b[0]->nbytes));
        CHECK_OK(td_fill(td_dev_stream(dev[0]), b[0]->ptr, 0, b[0]->nbytes)); /* behind the copy */
        CHECK_OK(td_fill(td_dev_stream(dev[2]), b[2]->ptr, 9, b[2]->nbytes)); /* before it */
        CHECK_OK(td_copy_peer(dev[2], b[2]->ptr, dev[1], b[1]->ptr, b[1]->nbytes));
        td_buf_unref(b[1]); /* its memory is used again behind the copy */
        b[1] = filled(dev[1], 77);
        CHECK_OK(td_copy_peer(dev[0], back->ptr, dev[2], b[2]->ptr, b[2]->nbytes));
        CHECK(holds(back, 0, 1) && holds(b[0], 0, 0) && holds(b[1], 77, 1));
        for (int i = 0; i < N; i++)
            td_buf_unref(b[i]);
        td_buf_unref(back);
    }
    td_null_delay(0);
    CHECK_OK(td_copy_peer(dev[1], 1, dev[0], 1, 0)); /* of nothing */
}

static void
test_refusals(void)
{
    unsigned char id[TD_COMM_ID] = {0};
    td_comm *comm[N], *c = NULL;
    td_dev *cpu, *twice[2] = {dev[0], dev[0]};
    td_buf *b = filled(dev[0], 0);
    td_comm_call k;

    CHECK_OK(td_dev_get("cpu", &cpu));
    CHECK(!td_dev_peers(cpu, dev[0]) && !td_dev_peers(dev[0], dev[0]));
    CHECK_FAILS(td_comm_id(cpu, id), TD_ERR_VALUE, "NCCL: groups are of GPUs, not of cpu");
    CHECK_FAILS(td_comm_new(twice, ranks, 2, 2, id, comm), TD_ERR_VALUE, "different devices");
    CHECK_FAILS(td_comm_new(dev, ranks, 1, 1, id, &c), TD_ERR_DEVICE, "ncclCommInitRankConfig");
    CHECK(!c);
    CHECK(td_comm_find("all_reduce") == TD_COMM_all_reduce && td_comm_find("sum") == -1);
    CHECK(td_comm_find_red("mean") == TD_COMM_mean && td_comm_find_red("?") == -1);
    join_all(comm);
    k = sum_of(comm[0], b, b, td_dev_stream(dev[0]));
    k.dt = TD_C64;
    CHECK_FAILS(td_comm_run(&k, 1), TD_ERR_TYPE, "all_reduce: NCCL does not compute with complex");
    k.dt = TD_F32;
    k.peer = N;
    CHECK_FAILS(td_comm_run(&k, 1), TD_ERR_VALUE, "no rank 3 in a group of 3");
    k.peer = 0;
    k.stream = td_dev_stream(dev[1]);
    CHECK_FAILS(td_comm_run(&k, 1), TD_ERR_VALUE, "a stream of null:1 for a group on null");
    for (int i = 0; i < N; i++)
        td_comm_free(comm[i]);
    td_comm_free(NULL);
    td_buf_unref(b);
}

/* What the driver refuses reaches the caller, and the next call works. */
static void
test_failures(void)
{
    static const char *const copies[] = {"cuMemcpyPeerAsync", "cuEventCreate", "cuEventRecord",
                                         "cuStreamWaitEvent"};
    td_buf *a = filled(dev[0], 5), *b = filled(dev[1], 0);
    unsigned char id[TD_COMM_ID];
    td_comm *comm[N];
    td_comm_call k;

    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        td_null_fail(copies[i], 1, 1);
        CHECK_FAILS(td_copy_peer(dev[1], b->ptr, dev[0], a->ptr, a->nbytes), TD_ERR_DEVICE,
                    copies[i]);
        td_null_fail(copies[i], 0, 0);
    }
    CHECK_OK(td_copy_peer(dev[1], b->ptr, dev[0], a->ptr, a->nbytes));
    CHECK(holds(b, 5, 1));
    CHECK_OK(td_comm_id(dev[0], id));
    td_null_fail("cuStreamCreateWithPriority", 1, 2);
    CHECK_FAILS(td_comm_new(dev, ranks, 1, 1, id, comm), TD_ERR_OOM, "cuStreamCreateWithPriority");
    CHECK_OK(td_comm_new(dev, ranks, 1, 1, id, comm));
    k = sum_of(comm[0], a, a, td_dev_stream(dev[0]));
    td_null_fail("cuLaunchKernel", 1, 719); /* NCCL's */
    CHECK(td_comm_run(&k, 1) == TD_ERR_DEVICE);
    CHECK_OK(td_comm_run(&k, 1));
    k.dst = a->ptr + 4; /* beyond its memory's end it is another's, or nobody's */
    k.count = (size_t)1 << 21;
    CHECK(td_comm_run(&k, 1) == TD_ERR_DEVICE);
    td_comm_free(comm[0]);
    td_buf_unref(a);
    td_buf_unref(b);
}

/* ---- a member that does not come ---- */

static td_status told;
static char words[512];

static void *
wait_for_ever(void *ctx)
{
    td_comm *c = ctx;
    td_buf *b = filled(dev[0], 1);
    td_comm_call k = sum_of(c, b, b, td_dev_stream(dev[0]));

    told = td_comm_run(&k, 1);
    snprintf(words, sizeof words, "%s", td_error());
    td_buf_unref(b);
    return NULL;
}

static void
test_abort(void)
{
    td_comm *comm[N];
    pthread_t thread;
    td_buf *b = filled(dev[1], 1);
    td_comm_call k;

    join_all(comm);
    pthread_create(&thread, NULL, wait_for_ever, comm[0]);
    usleep(20000);
    td_comm_abort(comm[0], "rank 1 has gone");
    td_comm_abort(comm[0], "once is enough");
    pthread_join(thread, NULL);
    CHECK(told == TD_ERR_PEER && strstr(words, "null: the group is broken: rank 1 has gone"));
    CHECK_FAILS(td_comm_check(comm[0]), TD_ERR_PEER, "rank 1 has gone");
    CHECK_OK(td_stream_sync(td_dev_stream(dev[0]))); /* it has been told */
    CHECK_OK(td_comm_check(comm[1]));

    td_comm_abort(comm[1], "rank 2 has gone");
    CHECK_FAILS(td_stream_sync(td_dev_stream(dev[1])), TD_ERR_PEER, "rank 2 has gone");
    CHECK_OK(td_stream_sync(td_dev_stream(dev[1])));
    CHECK(holds(b, 1, 1));
    k = sum_of(comm[1], b, b, td_dev_stream(dev[1]));
    CHECK_FAILS(td_comm_run(&k, 1), TD_ERR_PEER, "broken");
    for (int i = 0; i < N; i++)
        td_comm_free(comm[i]);
    td_buf_unref(b);
}

/* Memory that is there, that comes and that goes, once the devices reach each other. */
static void
test_reach(void)
{
    td_buf *large, *small = filled(dev[0], 0);

    CHECK_OK(td_buf_new(dev[0], NULL, (size_t)40 << 20, &large));
    CHECK_OK(td_copy_peer(dev[2], small->ptr, dev[0], small->ptr, 0));
    td_buf_unref(large);
    CHECK_OK(td_mem_trim(dev[0]));
    CHECK_OK(td_buf_new(dev[0], NULL, (size_t)80 << 20, &large));
    CHECK_OK(td_copy_peer(dev[2], large->ptr, dev[0], large->ptr, 0));
    td_buf_unref(large);
    td_buf_unref(small);
}

int
main(void)
{
    td_dev *same;

    CHECK_OK(td_dev_get("null", &dev[0]));
    CHECK_OK(td_dev_get("null:1", &dev[1]));
    CHECK_OK(td_dev_get("null:2", &dev[2]));
    CHECK_OK(td_dev_get("null:0", &same));
    CHECK(same == dev[0] && strcmp(td_dev_info(dev[2])->name, "null:2") == 0);
    CHECK_FAILS(td_dev_get("null:8", &same), TD_ERR_DEVICE, "from 0 to 7");
    CHECK_FAILS(td_dev_get("null:x", &same), TD_ERR_VALUE, "unknown device");
    test_refusals();
    test_copies();
    test_order();
    test_failures();
    test_abort();
    test_reach();
    for (int i = 0; i < N; i++) {
        CHECK_OK(td_dev_sync(dev[i]));
        CHECK_OK(td_mem_trim(dev[i]));
    }
    CHECK(td_null_live().events == 0 && td_null_live().streams == 0 && td_null_live().memory == 0);
    return check_failures != 0;
}
