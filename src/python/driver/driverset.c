/* driverset.c - treadle._core.TexArray and Texture, copies of blocks, settings of contexts, memory of other processes. */
#include "python/driver/driver.h"

#include "dev/pool/share.h"

#include <stdlib.h>
#include <string.h>

/* ---- arrays ---- */

typedef struct texarray {
    PyObject_HEAD td_texarray *a; /* NULL: freed */
} texarray;

static PyTypeObject *texarray_type, *texture_type;

/* shown - what a texture shows, which the device may still read; released after its work. */
typedef struct shown {
    py_owner head;
    td_texarray *array; /* or NULL */
    PyObject *memory;   /* the object that has the memory; or NULL */
    uint64_t handle;    /* 0: none */
    bool surface;
} shown;

static void
end_shown(py_owner *head)
{
    shown *o = (shown *)head;

    (void)td_texture_free(head->dev, o->handle, o->surface); /* a broken device has released it */
    td_texarray_unref(o->array);
    Py_XDECREF(o->memory);
    free(o);
}

static shown *
new_shown(td_dev *d)
{
    shown *o = calloc(1, sizeof *o);

    if (!o)
        return (shown *)PyErr_NoMemory();
    o->head.dev = d;
    o->head.end = end_shown;
    return o;
}

static void
release_shown(PyObject *self)
{
    py_free(self);
    py_owners_release();
}

static PyObject *
texarray_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"width", "height", "depth", "format", "channels", "flags", NULL};
    Py_ssize_t w, h, z;
    unsigned flags;
    td_texdesc t;
    texarray *r;
    td_dev *d;

    memset(&t, 0, sizeof t);
    if (!PyArg_ParseTupleAndKeywords(args, kw, "nnniiI:Array", names, &w, &h, &z, &t.format,
                                     &t.channels, &flags) ||
        !py_raw_size(w, "cuArrayCreate") || !py_raw_size(h, "cuArrayCreate") ||
        !py_raw_size(z, "cuArrayCreate") || !py_raw_dev(&d))
        return NULL;
    t.width = (size_t)w;
    t.height = (size_t)h;
    t.depth = (size_t)z;
    t.flags = flags;
    r = py_allocate(type);
    if (r && !py_ok(td_texarray_new(d, &t, &r->a)))
        Py_CLEAR(r);
    return (PyObject *)r;
}

static void
texarray_dealloc(PyObject *self)
{
    texarray *a = (texarray *)self;
    shown *o = a->a ? calloc(1, sizeof *o) : NULL;

    if (o) {
        o->head.dev = a->a->dev;
        o->head.end = end_shown;
        o->array = a->a;
        py_owner_retire(&o->head);
    } else {
        td_texarray_unref(a->a); /* waits for the device */
    }
    release_shown(self);
}

static td_texarray *
texarray_of(PyObject *o, const char *call)
{
    td_texarray *a = NULL;

    if (!PyObject_TypeCheck(o, texarray_type))
        PyErr_Format(PyExc_TypeError, "%s: an Array is wanted, not %R", call,
                     (PyObject *)Py_TYPE(o));
    else if (!(a = ((texarray *)o)->a))
        py_raise(td_raw_refuse(400, call, "the array was freed"));
    return a;
}

static PyObject *
texarray_free(PyObject *self, PyObject *unused)
{
    td_texarray *a = texarray_of(self, "cuArrayDestroy");
    PyThreadState *gil;

    (void)unused;
    if (!a)
        return NULL;
    ((texarray *)self)->a = NULL;
    gil = PyEval_SaveThread();
    td_texarray_unref(a);
    PyEval_RestoreThread(gil);
    return Py_NewRef(Py_None);
}

static PyObject *
texarray_handle(PyObject *self, void *unused)
{
    td_texarray *a = texarray_of(self, "handle of an Array");

    (void)unused;
    return a ? PyLong_FromVoidPtr(a->handle) : NULL;
}

static PyObject *
texarray_desc(PyObject *self, void *unused)
{
    td_texarray *a = texarray_of(self, "cuArrayGetDescriptor");

    (void)unused;
    return a ? Py_BuildValue("(nnniiI)", (Py_ssize_t)a->desc.width, (Py_ssize_t)a->desc.height,
                             (Py_ssize_t)a->desc.depth, a->desc.format, a->desc.channels,
                             a->desc.flags)
             : NULL;
}

/* ---- textures and surfaces ---- */

typedef struct texture {
    PyObject_HEAD shown *o;
} texture;

/* Makes the texture keep an address's memory, until the device's work on it is done. */
static bool
view_memory(PyObject *memory, td_texview *v, shown *o)
{
    py_address a;

    if (!py_raw_address(memory, "cuTexObjectCreate", &a))
        return false;
    v->at = a.at;
    o->memory = Py_NewRef(memory);
    return true;
}

static PyObject *
pytexture_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"shown",    "surface", "width",  "height", "pitch", "format",
                            "channels", "address", "filter", "flags",  NULL};
    Py_ssize_t width = 0, height = 0, pitch = 0;
    td_texview v = {.address = {1, 1, 1}};
    int surface = 0;
    PyObject *what;
    texture *r = NULL;
    td_dev *d;
    shown *o;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|pnnnii(iii)iI:Texture", names, &what, &surface,
                                     &width, &height, &pitch, &v.desc.format, &v.desc.channels,
                                     &v.address[0], &v.address[1], &v.address[2], &v.filter,
                                     &v.flags) ||
        !py_raw_size(width, "cuTexObjectCreate") || !py_raw_size(height, "cuTexObjectCreate") ||
        !py_raw_size(pitch, "cuTexObjectCreate") || !py_raw_dev(&d) || !(o = new_shown(d)))
        return NULL;
    v.desc.width = (size_t)width;
    v.desc.height = (size_t)height;
    v.pitch = (size_t)pitch;
    o->surface = surface;
    if (PyObject_TypeCheck(what, texarray_type)) {
        v.array = texarray_of(what, "cuTexObjectCreate");
        o->array = v.array ? td_texarray_ref(v.array) : NULL;
    } else {
        (void)view_memory(what, &v, o);
    }
    if (!PyErr_Occurred() && py_ok(td_texture_new(d, &v, surface, &o->handle)))
        r = PyObject_New(texture, type);
    if (r)
        r->o = o;
    else
        py_owner_end(&o->head);
    return (PyObject *)r;
}

static void
texture_dealloc(PyObject *self)
{
    py_owner_retire(&((texture *)self)->o->head);
    release_shown(self);
}

static PyObject *
texture_handle(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((texture *)self)->o->handle);
}

/* ---- copies of blocks ---- */

/* The bytes that a view spans, from its first to its last. */
static bool
span_of(const Py_buffer *b, size_t *out)
{
    Py_ssize_t n = b->strides ? b->itemsize : b->len; /* ctypes arrays tell no strides: C order */

    for (int i = 0; b->strides && i < b->ndim; i++) {
        if (b->strides[i] < 0) {
            PyErr_SetString(
                PyExc_ValueError,
                "a host array with negative strides cannot be copied: copy() it before");
            return false;
        }
        n = b->shape[i] ? n + (b->shape[i] - 1) * b->strides[i] : 0;
        if (!n)
            break;
    }
    *out = (size_t)n;
    return true;
}

/* (memory type, object, x, y, z, pitch, height) */
static bool
side_of(PyObject *tuple, bool write, td_side *p, Py_buffer *b)
{
    Py_ssize_t x, y, z, pitch, height;
    PyObject *what;
    py_address a;
    int place;

    if (!PyArg_ParseTuple(tuple, "iOnnnnn:_raw_block", &place, &what, &x, &y, &z, &pitch, &height))
        return false;
    if (x < 0 || y < 0 || z < 0 || pitch < 0 || height < 0)
        return py_raw_size(-1, "cuMemcpy3D");
    *p = (td_side){.x = (size_t)x,
                   .y = (size_t)y,
                   .z = (size_t)z,
                   .pitch = (size_t)pitch,
                   .height = (size_t)height};
    switch (place) {
    case 1:
        p->place = TD_PLACE_HOST;
        if (PyObject_GetBuffer(what, b, PyBUF_STRIDES | (write ? PyBUF_WRITABLE : 0)))
            return false;
        p->at = (uintptr_t)b->buf;
        return span_of(b, &p->extent);
    case 2:
        p->place = TD_PLACE_DEVICE;
        if (!py_raw_address(what, "cuMemcpy3D", &a))
            return false;
        p->at = a.at;
        return true;
    case 3:
        p->place = TD_PLACE_ARRAY;
        p->array = texarray_of(what, "cuMemcpy3D");
        return p->array != NULL;
    default: break;
    }
    return true; /* the core reports that it was not set */
}

/* dst, src: sides; width, height, depth, stream, wait */
static PyObject *
copy_block(PyObject *module, PyObject *args)
{
    Py_buffer host[2] = {{.obj = NULL}, {.obj = NULL}};
    PyObject *dst, *src, *where;
    Py_ssize_t w, h, z;
    td_status st = TD_OK;
    PyThreadState *gil;
    td_brick b = {0};
    td_stream *s;
    td_dev *d;
    bool ok;
    int wait;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOnnnOp:_raw_block", &dst, &src, &w, &h, &z, &where, &wait) ||
        !py_raw_size(w, "cuMemcpy3D") || !py_raw_size(h, "cuMemcpy3D") ||
        !py_raw_size(z, "cuMemcpy3D") || !py_raw_dev(&d) || !py_raw_stream(where, d, &s))
        return NULL;
    ok = side_of(dst, true, &b.dst, &host[0]) && side_of(src, false, &b.src, &host[1]);
    if (ok) {
        b.width = (size_t)w;
        b.height = (size_t)h;
        b.depth = (size_t)z;
        gil = PyEval_SaveThread();
        st = td_raw_copy(s, &b, wait);
        PyEval_RestoreThread(gil);
    }
    for (int i = 0; i < 2; i++)
        if (host[i].obj && (wait || !ok || st || !py_lend(&host[i], s))) {
            if (!wait && ok && !st)
                st = td_stream_sync(s);
            PyBuffer_Release(&host[i]);
        }
    return ok && py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

/* dst, src, nbytes, dst_device, src_device, stream, wait */
static PyObject *
copy_peer(PyObject *module, PyObject *args)
{
    PyObject *to, *from, *to_dev, *from_dev, *where;
    py_address dst, src;
    Py_ssize_t n;
    td_stream *s;
    int wait;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOnOOOp:_raw_peer", &to, &from, &n, &to_dev, &from_dev, &where,
                          &wait) ||
        !py_raw_size(n, "cuMemcpyPeer") || !py_raw_address(to, "cuMemcpyPeer", &dst) ||
        !py_raw_address(from, "cuMemcpyPeer", &src) ||
        (to_dev != Py_None && !py_device(to_dev, &dst.dev)) ||
        (from_dev != Py_None && !py_device(from_dev, &src.dev)) ||
        !py_raw_stream(where, dst.dev, &s))
        return NULL;
    return py_raw_move(&dst, &src, (size_t)n, s, wait);
}

/* ---- settings and facts ---- */

static PyObject *
driver_limit(PyObject *module, PyObject *args)
{
    Py_ssize_t given = -1;
    size_t value;
    int number;
    td_dev *d;

    (void)module;
    if (!PyArg_ParseTuple(args, "i|n:_raw_limit", &number, &given) || !py_raw_dev(&d))
        return NULL;
    value = (size_t)given;
    return py_ok(td_dev_limit(d, number, given >= 0, &value)) ? PyLong_FromSize_t(value) : NULL;
}

static PyObject *
driver_config(PyObject *module, PyObject *args)
{
    int which, value = -1;
    td_dev *d;

    (void)module;
    if (!PyArg_ParseTuple(args, "i|i:_raw_config", &which, &value) || !py_raw_dev(&d))
        return NULL;
    return py_ok(td_dev_config(d, which, PyTuple_Size(args) > 1, &value)) ? PyLong_FromLong(value)
                                                                          : NULL;
}

static PyObject *
peer_access(PyObject *module, PyObject *args)
{
    PyObject *a, *b;
    td_dev *d, *e;
    bool can;
    int what;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOi:_raw_peer_access", &a, &b, &what) || !py_device(a, &d) ||
        !py_device(b, &e) || !py_ok(td_dev_peer(d, e, (td_peerdo)what, &can)))
        return NULL;
    return PyBool_FromLong(can);
}

static PyObject *
bus(PyObject *module, PyObject *where)
{
    char text[64];
    td_status st;
    td_dev *d;

    (void)module;
    if (!py_device(where, &d))
        return NULL;
    st = td_dev_bus(d, text, sizeof text);
    if (st == TD_SKIP)
        return Py_NewRef(Py_None);
    return py_ok(st) ? PyUnicode_FromString(text) : NULL;
}

static PyObject *
driver_version(PyObject *module, PyObject *unused)
{
    int version;

    (void)module, (void)unused;
    return py_ok(td_dev_driver_version(&version)) ? PyLong_FromLong(version) : NULL;
}

static PyObject *
attach(PyObject *module, PyObject *args)
{
    PyObject *address, *where;
    py_address a;
    unsigned flags;
    td_stream *s;

    (void)module;
    if (!PyArg_ParseTuple(args, "OIO:_raw_attach", &address, &flags, &where) ||
        !py_raw_address(address, "cuStreamAttachMemAsync", &a) || !py_raw_stream(where, a.dev, &s))
        return NULL;
    return py_ok(td_host_attach(s, a.at, flags)) ? Py_NewRef(Py_None) : NULL;
}

/* ---- other processes ---- */

static PyObject *
receive(PyObject *module, PyObject *args)
{
    const char *bytes;
    PyObject *type;
    Py_ssize_t n;
    td_handle h;
    td_buf *b;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oy#:_raw_receive", &type, &bytes, &n))
        return NULL;
    if (n != (Py_ssize_t)sizeof h)
        return PyErr_Format(PyExc_ValueError, "a handle of memory has %zu bytes, not %zd", sizeof h,
                            n);
    memcpy(&h, bytes, sizeof h);
    return py_ok(td_share_receive(&h, &b)) ? py_raw_wrap((PyTypeObject *)type, b) : NULL;
}

PyMethodDef py_rawset_functions[] = {
    {"_raw_block", copy_block, METH_VARARGS,
     "_raw_block(dst, src, width, height, depth, stream, wait): a side is (memory type, object, x, "
     "y, z, pitch, height)."},
    {"_raw_peer", copy_peer, METH_VARARGS,
     "_raw_peer(dst, src, nbytes, dst_device, src_device, stream, wait)."},
    {"_raw_limit", driver_limit, METH_VARARGS,
     "_raw_limit(number[, value]): of the current device."},
    {"_raw_config", driver_config, METH_VARARGS,
     "_raw_config(which[, value]): 0 the cache's, 1 that of shared memory."},
    {"_raw_peer_access", peer_access, METH_VARARGS,
     "_raw_peer_access(device, peer, what): 0 is it possible, 1 enable, 2 disable."},
    {"_raw_bus", bus, METH_O, "_raw_bus(device): where it is on the bus; None: nowhere."},
    {"_raw_driver_version", driver_version, METH_NOARGS,
     "_raw_driver_version(): 13000 for 13.0; 0: there is no driver."},
    {"_raw_attach", attach, METH_VARARGS, "_raw_attach(address, flags, stream)."},
    {"_raw_receive", receive, METH_VARARGS,
     "_raw_receive(type, handle): another process's memory as a DeviceAllocation of that type."},
    {NULL, NULL, 0, NULL},
};

bool
py_rawset_init(PyObject *m)
{
    static PyMethodDef array_methods[] = {
        {"free", texarray_free, METH_NOARGS,
         "free(): the memory goes back, once no texture shows it; LogicError: it was freed "
         "before."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef array_getset[] = {
        {"handle", texarray_handle, NULL, "The CUarray as an int.", NULL},
        {"_desc", texarray_desc, NULL, "(width, height, depth, format, channels, flags)", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot array_slots[] = {
        {Py_tp_doc, "TexArray(width, height, depth, format, channels, flags): memory in the layout "
                    "of texture units."},
        PY_SLOT(Py_tp_new, texarray_new),
        PY_SLOT(Py_tp_dealloc, texarray_dealloc),
        {Py_tp_methods, array_methods},
        {Py_tp_getset, array_getset},
        {0, NULL},
    };
    static PyType_Spec array_spec = {
        .name = "treadle._core.TexArray",
        .basicsize = sizeof(texarray),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
        .slots = array_slots,
    };
    static PyGetSetDef texture_getset[] = {
        {"handle", texture_handle, NULL, "What kernels take: a cudaTextureObject_t as an int.",
         NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot texture_slots[] = {
        {Py_tp_doc,
         "Texture(shown, surface=False, width, height, pitch, format, channels, address, "
         "filter, flags): a texture object over an array or device memory, which it "
         "keeps."},
        PY_SLOT(Py_tp_new, pytexture_new),
        PY_SLOT(Py_tp_dealloc, texture_dealloc),
        {Py_tp_getset, texture_getset},
        {0, NULL},
    };
    static PyType_Spec texture_spec = {
        .name = "treadle._core.Texture",
        .basicsize = sizeof(texture),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = texture_slots,
    };

    return py_add_type(m, "TexArray", &array_spec, &texarray_type) &&
           py_add_type(m, "Texture", &texture_spec, &texture_type) &&
           PyModule_AddFunctions(m, py_rawset_functions) == 0;
}
