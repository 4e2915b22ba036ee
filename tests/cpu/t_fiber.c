/* t_fiber.c - fibers: turns, barriers, masks, early returns, those that wait for ever, many at once. */
#include "base/fiber.h"

#include "check.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024 };

typedef struct block {
    int n, rounds;
    uint64_t all, warp[N / 32];
    int order[2 * N], norder;
    int value[N], sum[N], bad;
} block;

static block *
new_block(int n)
{
    block *b = calloc(1, sizeof *b);

    b->n = n;
    return b;
}

static void
note_order(void *ctx, int i)
{
    block *b = ctx;

    b->bad += td_fiber_self() != i;
    b->order[b->norder++] = i;
    td_fiber_yield();
    b->bad += td_fiber_self() != i;
    b->order[b->norder++] = i;
}

static void
test_turns(void)
{
    for (int n = 0; n <= 130; n += 13) {
        block *b = new_block(n);

        CHECK_OK(td_fibers_run(n, note_order, b));
        CHECK(b->norder == 2 * n && !b->bad);
        for (int k = 0; k < 2 * n; k++)
            CHECK(b->order[k] == k % n);
        free(b);
    }
    CHECK(td_fiber_self() == -1);
    td_fiber_yield();
}

/* Between two barriers everybody reads what its right neighbour wrote. */
static void
rotate(void *ctx, int i)
{
    block *b = ctx;

    for (int r = 0; r < b->rounds; r++) {
        b->value[i] = r * b->n + i;
        td_fiber_barrier(&b->all, 0, b->n);
        b->bad += b->value[(i + 1) % b->n] != r * b->n + (i + 1) % b->n;
        td_fiber_barrier(&b->all, 0, b->n);
    }
}

static void
test_barrier(void)
{
    static const int sizes[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 256, 1000, N};

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        block *b = new_block(sizes[k]);

        b->rounds = 5;
        CHECK_OK(td_fibers_run(b->n, rotate, b));
        CHECK(!b->bad);
        free(b);
    }
}

/* Warps pass their own barriers different numbers of times, then all meet. */
static void
in_warps(void *ctx, int i)
{
    block *b = ctx;
    int w = i / 32, first = 32 * w, n = b->n - first < 32 ? b->n - first : 32;

    for (int r = 0; r <= w; r++) {
        b->value[i] = r;
        td_fiber_barrier(&b->warp[w], first, n);
        b->bad += b->value[first + (i - first + 1) % n] != r;
        td_fiber_barrier(&b->warp[w], first, n);
    }
    td_fiber_barrier(&b->all, 0, b->n);
    b->bad += b->value[b->n - 1] != (b->n - 1) / 32;
}

/* Odd and even lanes exchange apart, with masks; the range crosses words of the scheduler's maps. */
static void
in_masks(void *ctx, int i)
{
    block *b = ctx;
    int first = i / 48 * 48;
    uint64_t mask = i % 2 ? 0xaaaaaaaaaaaa : 0x555555555555;
    uint64_t *state = &b->warp[i / 48 * 2 + i % 2];

    for (int r = 0; r < 2 + i % 2; r++) {
        b->value[i] = r;
        td_fiber_meet(state, first, mask);
        b->bad += b->value[first + (i - first + 2) % 48] != r;
        td_fiber_meet(state, first, mask);
    }
}

static void
test_parts(void)
{
    for (int n = 1; n <= N; n = n * 3 + 1) {
        block *b = new_block(n);

        CHECK_OK(td_fibers_run(n, in_warps, b));
        CHECK(!b->bad);
        free(b);
    }
    for (int k = 1; k <= 8; k++) {
        block *b = new_block(48 * k);

        CHECK_OK(td_fibers_run(b->n, in_masks, b));
        CHECK(!b->bad);
        free(b);
    }
}

/* Fiber i leaves before its barrier i % 7; those that are left see each other. */
static void
leaves_early(void *ctx, int i)
{
    block *b = ctx;

    for (int r = 0; r < 7; r++) {
        if (i % 7 == r)
            return;
        b->value[i] = r + 1;
        if (i % 3)
            td_fiber_yield();
        td_fiber_barrier(&b->all, 0, b->n);
        for (int k = 0; k < b->n && k < 70; k++)
            b->bad += k % 7 > r && b->value[k] != r + 1;
        td_fiber_barrier(&b->all, 0, b->n);
    }
}

/* The first waits for a flag in turns, which one sets behind a barrier that only a return completes. */
static void
spins(void *ctx, int i)
{
    block *b = ctx;

    if (i == 0)
        while (!b->value[0])
            td_fiber_yield();
    else if (i == 1) {
        td_fiber_barrier(&b->all, 1, 2);
        b->value[0] = 1;
    } else
        td_fiber_yield();
}

static void
test_returns(void)
{
    for (int n = 1; n <= 1000; n += 111) {
        block *b = new_block(n);

        CHECK_OK(td_fibers_run(n, leaves_early, b));
        CHECK(!b->bad);
        free(b);
    }
    block *b = new_block(3);

    CHECK_OK(td_fibers_run(3, spins, b));
    free(b);
}

static void
parted(void *ctx, int i)
{
    block *b = ctx;

    td_fiber_barrier(i % 2 ? &b->all : &b->warp[0], 0, b->n);
    b->bad++;
}

static void
nests(void *ctx, int i)
{
    block *b = ctx;

    (void)i;
    CHECK_FAILS(td_fibers_run(2, note_order, b), TD_ERR_VALUE, "started by one");
}

static void
test_refusals(void)
{
    for (int n = 2; n <= 300; n += 99) {
        block *b = new_block(n);

        CHECK_FAILS(td_fibers_run(n, parted, b), TD_ERR_THREADS, "threads 0, 1");
        CHECK(!b->bad);
        free(b);
        b = new_block(n); /* their stacks serve again */
        b->rounds = 2;
        CHECK_OK(td_fibers_run(n, rotate, b));
        CHECK(!b->bad);
        free(b);
    }
    block *b = new_block(2);

    CHECK_OK(td_fibers_run(2, nests, b));
    free(b);
}

static void
rounds(void *ctx, int i)
{
    block *b = ctx;
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};

    fesetround(modes[i % 3]);
    for (int r = 0; r < 4; r++) {
        td_fiber_barrier(&b->all, 0, b->n);
        b->bad += fegetround() != modes[i % 3];
    }
    fesetround(FE_TONEAREST);
}

static void
test_control_words(void)
{
    block *b = new_block(9);

    CHECK_OK(td_fibers_run(b->n, rounds, b));
    CHECK(!b->bad && fegetround() == FE_TONEAREST);
    free(b);
}

static int
deep(int n)
{
    volatile char here[256];

    here[0] = (char)n;
    return n ? deep(n - 1) + here[0] - (char)n : 0;
}

static void
deep_one(void *ctx, int i)
{
    block *b = ctx;

    b->bad += deep(150) != 0;
    td_fiber_barrier(&b->all, 0, b->n);
    b->bad += deep(150 - i % 50) != 0;
}

static void *
one_thread(void *arg)
{
    block *b = arg;

    for (int r = 0; r < 20 && !b->bad; r++)
        b->bad +=
            td_fibers_run(b->n, rotate, b) != TD_OK || td_fibers_run(b->n, deep_one, b) != TD_OK;
    return NULL;
}

static void
test_many_threads(void)
{
    enum { T = 16 };
    pthread_t t[T];
    block *b[T];

    for (int i = 0; i < T; i++) {
        b[i] = new_block(17 * i + 1);
        b[i]->rounds = 3;
        pthread_create(&t[i], NULL, one_thread, b[i]);
    }
    for (int i = 0; i < T; i++) {
        pthread_join(t[i], NULL);
        CHECK(!b[i]->bad);
        free(b[i]);
    }
}

static void
count_one(void *ctx, int i)
{
    ((block *)ctx)->value[i % N]++;
}

static void
test_grid(void)
{
    enum { MANY = 20000 }; /* a cooperative grid's */
    block *b = new_block(MANY);

    CHECK_OK(td_fibers_run(MANY, count_one, b));
    CHECK(b->value[0] == (MANY + N - 1) / N);
    free(b);
}

static void
print_costs(void)
{
    for (int n = 32; n <= N; n *= 2) {
        block *b = new_block(n);
        double start;

        b->rounds = 100;
        CHECK_OK(td_fibers_run(n, rotate, b));
        start = now_us();
        CHECK_OK(td_fibers_run(n, rotate, b));
        printf("%d fibers: %.1f ns for each at a barrier, ", n,
               1e3 * (now_us() - start) / (200.0 * n));
        start = now_us();
        CHECK_OK(td_fibers_run(n, count_one, b));
        printf("%.1f to run one\n", 1e3 * (now_us() - start) / n);
        free(b);
    }
}

int
main(void)
{
    test_turns();
    test_barrier();
    test_parts();
    test_returns();
    test_refusals();
    test_control_words();
    test_many_threads();
    test_grid();
    print_costs();
    return check_failures != 0;
}
