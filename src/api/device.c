/* device.c - devices. */
#include "api/api.h"

#include <stdio.h>

treadle_status
treadle_device_open(const char *name, treadle_device **out)
{
    bool held = td_api_enter();
    td_dev *d;
    td_status st = !out   ? td_api_null("device_open")
                   : name ? td_dev_get(name, &d)
                          : td_dev_default(&d);

    if (!st)
        *out = (treadle_device *)d;
    return td_api_leave(held, st);
}

treadle_status
treadle_device_list(treadle_device **out, size_t room, size_t *count)
{
    bool held = td_api_enter();
    td_status st = count && (out || !room) ? TD_OK : td_api_null("device_list");
    size_t gpus = st ? 0 : (size_t)td_dev_count(TD_DEV_CUDA);
    char name[16];
    td_dev *d;

    for (size_t i = 0; !st && i <= gpus && i < room; i++) {
        snprintf(name, sizeof name, i < gpus ? "cuda:%zu" : "cpu", i);
        st = td_dev_get(name, &d);
        if (!st)
            out[i] = (treadle_device *)d;
    }
    if (!st)
        *count = gpus + 1;
    return td_api_leave(held, st);
}

void
treadle_device_use(treadle_device *d)
{
    td_dev_use((td_dev *)d);
}

treadle_status
treadle_device_get_info(treadle_device *d, treadle_device_info *out)
{
    const td_devinfo *i;
    td_dev *dev;
    td_status st = out ? td_api_device(d, &dev) : td_api_null("device_get_info");

    if (st)
        return (treadle_status)st;
    i = td_dev_info(dev);
    *out = (treadle_device_info){.gpu = i->kind == TD_DEV_CUDA,
                                 .index = i->index,
                                 .units = i->units,
                                 .driver = i->driver,
                                 .memory = i->memory};
    snprintf(out->name, sizeof out->name, "%s", i->name);
    snprintf(out->model, sizeof out->model, "%s", i->model);
    snprintf(out->arch, sizeof out->arch, "%s", i->arch);
    return TREADLE_OK;
}

treadle_status
treadle_device_memory(treadle_device *d, size_t *free_nbytes, size_t *total_nbytes)
{
    td_dev *dev;
    td_status st =
        free_nbytes && total_nbytes ? td_api_device(d, &dev) : td_api_null("device_memory");

    return (treadle_status)(st ? st : td_dev_memory(dev, free_nbytes, total_nbytes));
}

treadle_status
treadle_device_sync(treadle_device *d)
{
    bool held = td_api_enter();
    td_dev *dev;
    td_status st = td_api_device(d, &dev);
    void *token;

    if (!st)
        st = td_eval_all();
    if (!st) {
        token = td_graph_unlock();
        st = td_dev_sync(dev);
        td_graph_lock(token);
    }
    return td_api_leave(held, st);
}

treadle_status
treadle_device_trim(treadle_device *d)
{
    td_dev *dev;
    td_status st = td_api_device(d, &dev);

    return (treadle_status)(st ? st : td_mem_trim(dev));
}

const char *
treadle_cuda_missing(void)
{
    return td_dev_cuda_missing();
}
