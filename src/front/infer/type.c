/* type.c - types, each made once. */
#include "front/infer/type.h"
#include "base/box.h"
#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static td_map made; /* hash of a type's parts -> td_type */

static td_hash
type_key(const td_type *t)
{
    td_hash h = td_hash_u64(
        TD_HASH_INIT, t->kind | t->dt << 8 | (uint64_t)t->weak << 16 | (uint64_t)t->readonly << 17 |
                          (uint64_t)(uint8_t)t->layout << 24 | (uint64_t)t->ndim << 32);

    h = td_hash_u64(h, (uint64_t)t->n << 32 | t->object);
    for (uint32_t i = 0; t->item && i < t->n; i++)
        h = td_hash_u64(h, (uint64_t)(uintptr_t)t->item[i]);
    for (uint32_t i = 0; t->field && i < t->n; i++) {
        const td_field *f = &t->field[i];

        h = td_hash_add(h, f->name, strlen(f->name));
        h = td_hash_u64(h, (uint64_t)(uintptr_t)f->type);
        h = td_hash_u64(h, (uint64_t)f->offset << 8 | f->ndim);
        h = td_hash_add(h, f->shape, f->ndim * sizeof *f->shape);
    }
    return td_hash_u64(h, (uint64_t)t->size << 32 | t->align);
}

/* Where types are written, which live as long as the process. */
static struct {
    char *at;
    size_t left;
} room;

/* As much as the types of a large function take. */
enum { ROOM = 64 << 10, BLOCK = 512 << 10, TYPES = 500 };

td_status
td_type_room(void)
{
    if (room.left < ROOM) {
        char *p = malloc(BLOCK);

        if (!p)
            return td_fail(TD_ERR_NOMEM, "compiling: host memory is out");
        room.at = p;
        room.left = BLOCK;
    }
    return td_map_room(&made, TYPES);
}

static void *
place(size_t nbytes)
{
    size_t size = (nbytes + 16) & ~(size_t)15;
    void *q = room.at;

    if (size <= room.left) {
        room.at += size;
        room.left -= size;
    } else
        q = malloc(size);
    TD_ASSERT(q); /* td_type_room saw to it */
    return q;
}

static void *
copy_of(const void *p, size_t nbytes)
{
    return nbytes ? memcpy(place(nbytes), p, nbytes) : place(0);
}

/* The type that equals t, whose lists are the caller's; name is copied. */
static const td_type *
intern(td_type t, const char *name)
{
    td_hash key = type_key(&t);
    td_type *p = td_map_get(&made, key);

    if (p)
        return p;
    (void)td_type_room(); /* there is some left if it fails */
    p = copy_of(&t, sizeof t);
    p->name = strcpy(copy_of(name, strlen(name)), name);
    if (t.item)
        p->item = copy_of(t.item, t.n * sizeof *t.item);
    if (t.field) {
        td_field *f = copy_of(t.field, t.n * sizeof *t.field);

        for (uint32_t i = 0; i < t.n; i++)
            f[i].name = strcpy(copy_of(f[i].name, strlen(f[i].name)), f[i].name);
        p->field = f;
    }
    TD_ASSERT(!td_map_set(&made, key, p));
    return p;
}

const td_type *
td_type_num(td_dtype dt)
{
    static const td_type *tab[TD_DTYPE_COUNT];

    if (!tab[dt])
        tab[dt] = intern((td_type){.kind = TD_T_NUM, .dt = (uint8_t)dt}, td_dtype_name(dt));
    return tab[dt];
}

const td_type *
td_type_weak(char kind)
{
    td_dtype dt = kind == 'i' ? TD_I64 : kind == 'f' ? TD_F64 : TD_C128;

    return intern((td_type){.kind = TD_T_NUM, .dt = (uint8_t)dt, .weak = true}, kind == 'i' ? "int"
                                                                                : kind == 'f'
                                                                                    ? "float"
                                                                                    : "complex");
}

const td_type *
td_type_mixed(uint32_t kinds)
{
    enum { BOOL = 1, INT = 2, FLOAT = 4, NONE = 8, COMPLEX = 16, KINDS = 8, NUMPY = 5 };
    static const char *const names[] = {"bool",    "int",        "float",       "None",
                                        "complex", "numpy.bool", "numpy.int64", "numpy.float64"};
    uint32_t all = kinds | kinds >> NUMPY;
    td_dtype dt = all & COMPLEX ? TD_C128 : all & FLOAT ? TD_F64 : all & INT ? TD_I64 : TD_BOOL;
    char name[100] = "";

    switch (kinds) {
    case NONE:    return td_type_none();
    case BOOL:    return td_type_num(TD_BOOL);
    case INT:     return td_type_weak('i');
    case FLOAT:   return td_type_weak('f');
    case COMPLEX: return td_type_weak('c');
    default:      break;
    }
    for (int i = 0; i < KINDS; i++)
        if (kinds >> i & 1)
            snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", *name ? " or " : "",
                     names[i]);
    return intern((td_type){.kind = TD_T_NUM, .dt = (uint8_t)dt, .weak = true, .object = kinds},
                  name);
}

const td_type *
td_type_none(void)
{
    return intern((td_type){.kind = TD_T_NONE}, "None");
}

static const uint32_t OPTIONAL = UINT32_MAX; /* `object` of values that may be None */

static const td_type *
list(td_tkind kind, uint32_t which, const char *open, const td_type *const *item, uint32_t n,
     const char *close)
{
    td_text name = {0};
    const td_type *t;

    td_text_addf(&name, "%s", open);
    for (uint32_t i = which == OPTIONAL; i < n; i++)
        td_text_addf(&name, "%s%s", i && which != OPTIONAL ? ", " : "", item[i]->name);
    td_text_addf(&name, "%s", close);
    t = intern((td_type){.kind = (uint8_t)kind, .n = n, .item = item, .object = which},
               name.s ? name.s : "");
    td_text_free(&name);
    return t;
}

const td_type *
td_type_tuple(const td_type *const *item, uint32_t n)
{
    return list(TD_T_TUPLE, 0, "(", item, n, n == 1 ? ",)" : ")");
}

const td_type *
td_type_named(uint32_t object, const char *name, const td_type *const *item, uint32_t n)
{
    char open[80];
    size_t len = strcspn(name, "(");

    snprintf(open, sizeof open, "%.*s(", len > 70 ? 70 : (int)len, name);
    return list(TD_T_TUPLE, object, open, item, n, ")");
}

const td_type *
td_type_tuple_like(const td_type *t, const td_type *const *item)
{
    return t->object ? td_type_named(t->object, t->name, item, t->n) : td_type_tuple(item, t->n);
}

const td_type *
td_type_slice(const td_type *const item[3])
{
    return list(TD_T_SLICE, 0, "slice(", item, 3, ")");
}

const td_type *
td_type_range(const td_type *const item[3])
{
    return list(TD_T_RANGE, 0, "range(", item, 3, ")");
}

const td_type *
td_type_iter(uint32_t which, const td_type *const *item, uint32_t n)
{
    return list(TD_T_ITER, which, "iterator(", item, n, ")");
}

const td_type *
td_type_optional(const td_type *item)
{
    const td_type *both[2] = {td_type_num(TD_BOOL), item};

    return list(TD_T_ITER, OPTIONAL, "optional(", both, 2, ")");
}

const td_type *
td_type_optional_of(const td_type *t)
{
    return t->kind == TD_T_ITER && t->object == OPTIONAL ? t->item[1] : NULL;
}

const td_type *
td_type_array(const td_type *item, uint32_t ndim, char layout, bool readonly)
{
    td_text name = {0};
    const td_type *t;

    if (ndim == 0 || (ndim == 1 && layout == 'F'))
        layout = 'C';
    td_text_addf(&name, "array(%s, %ud, %s%s)", item->name, ndim,
                 layout == 'C'   ? "C"
                 : layout == 'F' ? "F"
                                 : "A",
                 readonly ? ", read-only" : "");
    t = intern((td_type){.kind = TD_T_ARRAY,
                         .layout = layout,
                         .ndim = (uint8_t)ndim,
                         .readonly = readonly,
                         .n = 1,
                         .item = &item},
               name.s ? name.s : "array");
    td_text_free(&name);
    return t;
}

const td_type *
td_type_record(const td_field *field, uint32_t n, uint32_t size, uint32_t align)
{
    td_text name = {0};
    const td_type *t;

    td_text_addf(&name, "record(");
    for (uint32_t i = 0; i < n; i++)
        td_text_addf(&name, "%s%s: %s", i ? ", " : "", field[i].name, field[i].type->name);
    td_text_addf(&name, ")");
    t = intern((td_type){.kind = TD_T_RECORD, .n = n, .field = field, .size = size, .align = align},
               name.s ? name.s : "record");
    td_text_free(&name);
    return t;
}

static const char *const box_name[] = {"list", "dict", "set", "str", "object"};

/* Numbers of treadle.typed have dtypes; arrays any strides. */
static const td_type *
plain_type(const td_type *t)
{
    const td_type *item[64];

    if (t->kind == TD_T_NUM)
        return td_type_num((td_dtype)t->dt);
    if (t->kind == TD_T_ARRAY)
        return td_type_array(t->item[0], t->ndim, t->ndim ? 'A' : 'C', t->readonly);
    if (t->kind != TD_T_TUPLE || t->n > 64)
        return t;
    for (uint32_t i = 0; i < t->n; i++)
        item[i] = plain_type(t->item[i]);
    return td_type_tuple_like(t, item);
}

const td_type *
td_type_box(uint32_t which, const td_type *const *item, uint32_t n, bool typed)
{
    td_text name = {0};
    const td_type *t, *own[2];

    for (uint32_t i = 0; typed && i < n; i++)
        own[i] = plain_type(item[i]);
    item = typed ? own : item;
    td_text_addf(&name, "%s%s", typed ? "typed." : "", box_name[which]);
    for (uint32_t i = 0; i < n; i++)
        td_text_addf(&name, "%s%s", i ? ", " : "(", item[i]->name);
    td_text_addf(&name, n ? ")" : "");
    t = intern((td_type){.kind = TD_T_BOX,
                         .ndim = (uint8_t)which,
                         .layout = typed ? 'T' : 0,
                         .n = n,
                         .item = n ? item : NULL},
               name.s ? name.s : box_name[which]);
    td_text_free(&name);
    return t;
}

const td_type *
td_type_site(uint32_t which, uint32_t number)
{
    return intern((td_type){.kind = TD_T_BOX, .ndim = (uint8_t)which, .object = number + 1},
                  box_name[which]);
}

const td_type *
td_type_class(uint32_t object, const char *name)
{
    return intern(
        (td_type){.kind = TD_T_BOX, .ndim = TD_BOX_OBJECT, .layout = 'T', .object = object}, name);
}

void
td_type_set_fields(const td_type *class, const char *const *name, const td_type *const *type,
                   uint32_t n)
{
    td_type *own = td_map_get(&made, type_key(class));
    td_field *f;

    (void)td_type_room();
    f = place(n * sizeof *f);
    TD_ASSERT(own == class && !own->field);
    for (uint32_t i = 0; i < n; i++)
        f[i] = (td_field){.name = strcpy(copy_of(name[i], strlen(name[i])), name[i]),
                          .type = plain_type(type[i])};
    own->field = f;
    own->size = n;
}

const td_type *
td_type_object(uint32_t object, const char *name)
{
    return intern((td_type){.kind = TD_T_OBJECT, .object = object}, name);
}

uint32_t
td_type_size(const td_type *t)
{
    TD_ASSERT(t->kind == TD_T_NUM || t->kind == TD_T_RECORD);
    return t->kind == TD_T_NUM ? (uint32_t)td_dtype_size(t->dt) : t->size;
}

uint32_t
td_type_words(const td_type *t)
{
    uint32_t n = 0;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:    return td_dtype_is_complex(t->dt) ? 2 : 1;
    case TD_T_RECORD:
    case TD_T_BOX:    return 1;
    case TD_T_ARRAY:
        return 1 + t->ndim + (t->layout == 'A' || t->item[0]->kind == TD_T_RECORD ? t->ndim : 0);
    case TD_T_NONE:
    case TD_T_OBJECT: return 0;
    case TD_T_TUPLE:
    case TD_T_SLICE:
    case TD_T_RANGE:
    case TD_T_ITER:
        for (uint32_t i = 0; i < t->n; i++)
            n += td_type_words(t->item[i]);
        return n;
    }
    td_bug(__FILE__, __LINE__, "type");
}
