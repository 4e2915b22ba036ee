/* launch.c - streams, events, modules and raw kernels' launches: the device layer, with arrays as
 * arguments.
 */
#include "api/api.h"

#include <stdlib.h>

/* ---- streams ---- */

static td_status
handle_stream(treadle_stream *s, td_stream **out)
{
    td_dev *d;

    *out = (td_stream *)s;
    if (s)
        return TD_OK;
    TD_TRY(td_dev_default(&d));
    *out = td_dev_stream(d);
    return TD_OK;
}

treadle_status
treadle_stream_new(treadle_device *d, treadle_stream **out)
{
    td_stream *s;
    td_dev *dev;
    td_status st = out ? td_api_device(d, &dev) : td_api_null("stream_new");

    if (!st)
        st = td_stream_new(dev, &s);
    if (!st)
        *out = (treadle_stream *)s;
    return (treadle_status)st;
}

treadle_status
treadle_stream_default(treadle_device *d, treadle_stream **out)
{
    td_dev *dev;
    td_status st = out ? td_api_device(d, &dev) : td_api_null("stream_default");

    if (!st)
        *out = (treadle_stream *)td_dev_stream(dev);
    return (treadle_status)st;
}

void
treadle_stream_free(treadle_stream *s)
{
    td_stream_free((td_stream *)s);
}

/* Recorded work belongs to its device's default stream: what looks there has it launched first. */
static td_status
launch_recorded(td_stream *s)
{
    return s == td_dev_stream(td_stream_dev(s)) ? td_eval_all() : TD_OK;
}

treadle_status
treadle_stream_sync(treadle_stream *s)
{
    bool held = td_api_enter();
    td_stream *core = NULL;
    td_status st = handle_stream(s, &core);
    void *token;

    if (!st)
        st = launch_recorded(core);
    if (!st) {
        token = td_graph_unlock();
        st = td_stream_sync(core);
        td_graph_lock(token);
    }
    return td_api_leave(held, st);
}

treadle_status
treadle_stream_wait(treadle_stream *s, treadle_event *e)
{
    td_stream *core = NULL;
    td_status st = e ? handle_stream(s, &core) : td_api_null("stream_wait");

    return (treadle_status)(st ? st : td_stream_wait(core, (td_event *)e));
}

void *
treadle_stream_handle(const treadle_stream *s)
{
    return s ? td_stream_handle((const td_stream *)s) : NULL;
}

/* ---- events ---- */

treadle_status
treadle_event_new(treadle_device *d, bool timing, treadle_event **out)
{
    td_event *e;
    td_dev *dev;
    td_status st = out ? td_api_device(d, &dev) : td_api_null("event_new");

    if (!st)
        st = td_event_new(dev, timing, &e);
    if (!st)
        *out = (treadle_event *)e;
    return (treadle_status)st;
}

void
treadle_event_free(treadle_event *e)
{
    td_event_free((td_event *)e);
}

treadle_status
treadle_event_record(treadle_event *e, treadle_stream *s)
{
    bool held = td_api_enter();
    td_stream *core = NULL;
    td_status st = e ? handle_stream(s, &core) : td_api_null("event_record");

    if (!st)
        st = launch_recorded(core);
    return td_api_leave(held, st ? st : td_event_record((td_event *)e, core));
}

treadle_status
treadle_event_sync(treadle_event *e)
{
    return (treadle_status)(e ? td_event_sync((td_event *)e) : td_api_null("event_sync"));
}

treadle_status
treadle_event_done(treadle_event *e, bool *out)
{
    return (treadle_status)(e && out ? td_event_done((td_event *)e, out)
                                     : td_api_null("event_done"));
}

treadle_status
treadle_event_elapsed(treadle_event *from, treadle_event *to, double *ms)
{
    return (treadle_status)(from && to && ms
                                ? td_event_elapsed((td_event *)from, (td_event *)to, ms)
                                : td_api_null("event_elapsed"));
}

/* ---- modules ---- */

treadle_status
treadle_module_load(treadle_device *d, const void *image, treadle_module **out)
{
    td_module *m;
    td_dev *dev;
    td_status st = image && out ? td_api_device(d, &dev) : td_api_null("module_load");

    if (!st)
        st = td_module_load(dev, image, &m);
    if (!st)
        *out = (treadle_module *)m;
    return (treadle_status)st;
}

void
treadle_module_free(treadle_module *m)
{
    td_module_free((td_module *)m);
}

treadle_status
treadle_module_function(treadle_module *m, const char *name, treadle_function **out)
{
    td_func *f;
    td_status st = m && name && out ? td_module_func((td_module *)m, name, &f)
                                    : td_api_null("module_function");

    if (!st)
        *out = (treadle_function *)f;
    return (treadle_status)st;
}

/* ---- launches ---- */

static td_status
word_of(td_dev *d, const treadle_arg *arg, int i, uint64_t *out)
{
    const td_array *a;
    td_buf *b;
    td_view v;

    *out = arg->word;
    if (!arg->array)
        return TD_OK;
    a = &arg->array->a;
    if (td_array_dev(a) != d)
        return td_fail(TD_ERR_VALUE, "launch: argument %d is on %s, the kernel on %s", i,
                       td_dev_info(td_array_dev(a))->name, td_dev_info(d)->name);
    TD_TRY(td_array_memory(a, true, &b, &v));
    if (!td_view_is_contiguous(&v))
        return td_fail(TD_ERR_VALUE, "launch: argument %d is not contiguous", i);
    *out = (uint64_t)b->ptr + (uint64_t)v.offset * td_dtype_size(td_array_dtype(a));
    return TD_OK;
}

static td_status
launch_launch(td_func *f, td_stream *s, const treadle_launch_dims *dims, const treadle_arg *args,
              int n)
{
    td_dims d = {.shared = dims->shared_nbytes};
    uint64_t *words = malloc(((size_t)n + 1) * sizeof *words);
    td_status st = words ? TD_OK : td_fail(TD_ERR_NOMEM, "launch: %d arguments", n);

    for (int i = 0; i < 3; i++) {
        d.grid[i] = dims->grid[i];
        d.block[i] = dims->block[i];
    }
    for (int i = 0; !st && i < n; i++)
        st = word_of(td_func_dev(f), &args[i], i, &words[i]);
    if (!st)
        st = td_launch(f, s, &d, words, n);
    free(words);
    return st;
}

treadle_status
treadle_launch(treadle_function *f, treadle_stream *s, const treadle_launch_dims *dims,
               const treadle_arg *args, int nargs)
{
    bool held = td_api_enter();
    td_status st = f && dims && nargs >= 0 && (args || !nargs) ? TD_OK : td_api_null("launch");

    return td_api_leave(held,
                        st ? st : launch_launch((td_func *)f, (td_stream *)s, dims, args, nargs));
}
