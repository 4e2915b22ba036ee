/* fold.c - reductions of few elements, TILE lanes at a time; finally the lanes are merged by
 * halves.
 */
#include "array/now/steps.h"

#include <string.h>

enum { TILE = TD_STEPS_TILE, PARTS = 2, ACCS = TD_STEPS_OUTS };

/* reader - a cursor over elements in the order of its axes, the last one fastest. */
typedef struct reader {
    const char *at;
    td_dtype dt;
    int nd;
    int64_t dim[TD_MAXDIM], step[TD_MAXDIM], pos[TD_MAXDIM]; /* step: bytes */
} reader;

static void
add_axes(reader *r, const td_view *v, uint32_t axes)
{
    for (int i = 0; i < v->shape.ndim; i++) {
        if (!(axes >> i & 1) || v->shape.dim[i] == 1)
            continue;
        r->dim[r->nd] = v->shape.dim[i];
        r->pos[r->nd] = 0;
        r->step[r->nd++] = v->stride[i] * (int64_t)td_dtype_size(r->dt);
    }
}

static void
reader_advance(reader *r, int64_t n)
{
    int k = r->nd - 1;

    r->at += n * r->step[k];
    r->pos[k] += n;
    while (r->pos[k] == r->dim[k]) {
        r->at -= r->step[k] * r->dim[k];
        r->pos[k] = 0;
        if (k-- == 0)
            return;
        r->at += r->step[k];
        r->pos[k]++;
    }
}

/* Reads the next n elements; for complex ones out[1] receives the imaginary parts. */
static void
reader_fetch(reader *r, int n, td_word (*out)[TILE])
{
    td_dtype part = td_dtype_real_of(r->dt);
    bool pair = part != r->dt;

    for (int done = 0; done < n;) {
        int64_t row = r->nd ? r->dim[r->nd - 1] - r->pos[r->nd - 1] : 1,
                step = r->nd ? r->step[r->nd - 1] : 0;
        int run = row < n - done ? (int)row : n - done;

        for (int k = 0; k <= (int)pair; k++)
            td_words_read(part, r->at + k * (int)td_dtype_size(part), step, run, &out[k][done]);
        if (r->nd)
            reader_advance(r, run);
        done += run;
    }
}

/* Runs p over n lanes; in and out: a row per parameter, a row per result.  out may be in. */
static void
run_steps(const td_steps *p, td_word *const *in, int n, td_word (*out)[TILE])
{
    td_word own[TD_STEPS_REGS][TILE], *reg[TD_STEPS_REGS];

    for (int i = 0; i < p->nreg; i++)
        reg[i] = i < p->nparam ? in[i] : own[i];
    for (int k = 0; k < p->nconst; k++)
        for (int l = 0; l < n; l++)
            own[p->constant[k].reg][l] = p->constant[k].word;
    td_steps_compute(p, reg, n);
    for (int k = 0; k < p->nout; k++)
        if (reg[p->out[k]] != out[k])
            memmove(out[k], reg[p->out[k]], (size_t)n * sizeof(td_word));
}

/* folding - a reduction's accumulators of TILE lanes. */
typedef struct folding {
    const td_fold_steps *f;
    reader r;
    int nparts; /* words per element */
    td_word acc[ACCS][TILE];
} folding;

/* Merges the next n elements into n lanes; their indices are at, at + by, … */
static void
folding_take(folding *d, int n, int64_t at, int by, bool first)
{
    td_word x[PARTS + 1][TILE], lifted[ACCS][TILE], *in[2 * ACCS];
    int nacc = d->f->lift->nout;

    reader_fetch(&d->r, n, x);
    for (int l = 0; l < n; l++)
        x[d->nparts][l].i = at + l * by;
    for (int k = 0; k <= d->nparts; k++)
        in[k] = x[k];
    run_steps(d->f->lift, in, n, first ? d->acc : lifted);
    if (first)
        return;
    for (int k = 0; k < nacc; k++) {
        in[k] = d->acc[k];
        in[nacc + k] = lifted[k];
    }
    run_steps(d->f->merge, in, n, d->acc);
}

static void
merge_lanes(folding *d, int n)
{
    td_word *in[2 * ACCS];
    int nacc = d->f->lift->nout;

    while (n > 1) {
        int half = n / 2;

        for (int k = 0; k < nacc; k++) {
            in[k] = d->acc[k];
            in[nacc + k] = &d->acc[k][n - half];
        }
        run_steps(d->f->merge, in, half, d->acc);
        n -= half;
    }
}

static void
folding_finish(folding *d, int n, int64_t count, double ddof, const td_few *out, int64_t from)
{
    td_word result[ACCS][TILE], more[2][TILE], *in[ACCS + 2];
    td_dtype part = td_dtype_real_of(out->dt);
    size_t size = td_dtype_size(out->dt), half = td_dtype_size(part);
    int nacc = d->f->lift->nout;

    for (int l = 0; l < n; l++) {
        more[0][l].i = count;
        more[1][l].d = ddof;
    }
    for (int k = 0; k < nacc; k++)
        in[k] = d->acc[k];
    in[nacc] = more[0];
    in[nacc + 1] = more[1];
    run_steps(d->f->finish, in, n, result);
    for (int k = 0; k < d->f->finish->nout; k++)
        td_words_write(half, out->at + (size_t)(out->view->offset + from) * size + (size_t)k * half,
                       (int64_t)size, n, result[k]);
}

static int64_t
reduced_extent(const td_shape *s, uint32_t axes)
{
    int64_t n = 1;

    for (int i = 0; i < s->ndim; i++)
        n *= axes >> i & 1 ? s->dim[i] : 1;
    return n;
}

void
td_fold_run(const td_fold_steps *f, const td_few *x, uint32_t axes, double ddof, const td_few *out)
{
    folding d = {.f = f, .nparts = td_dtype_is_complex(x->dt) ? 2 : 1};
    int64_t results = reduced_extent(&x->view->shape, ~axes),
            count = reduced_extent(&x->view->shape, axes);
    bool beside = results > 1 && results <= TILE; /* each lane is a result of its own */

    d.r.at = x->at + x->view->offset * (int64_t)td_dtype_size(x->dt);
    d.r.dt = x->dt;
    add_axes(&d.r, x->view, beside ? axes : ~axes);
    add_axes(&d.r, x->view, beside ? ~axes : axes);
    for (int64_t k = 0; beside && k < count; k++)
        folding_take(&d, (int)results, k, 0, k == 0);
    if (beside) {
        folding_finish(&d, (int)results, count, ddof, out, 0);
        return;
    }
    for (int64_t i = 0; i < results; i++) {
        for (int64_t k = 0; k < count; k += TILE)
            folding_take(&d, count - k < TILE ? (int)(count - k) : TILE, k, 1, k == 0);
        merge_lanes(&d, count < TILE ? (int)count : TILE);
        folding_finish(&d, 1, count, ddof, out, i);
    }
}
