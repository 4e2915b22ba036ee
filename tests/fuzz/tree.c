/* tree.c - syntax trees for td_front: bytes choose a tree that Python's parser could have made (tree.def), the types of
 * the arguments and the way to compile.  What the front makes of it is widened, as it would be for a CPU.
 */
#include "front/infer/front.h"
#include "front/infer/syntax.h"
#include "fuzz.h"
#include "ir/wide/widen.h"

enum { WORDS = 1 << 14, DEEP = 12, LIST = 4, ARGS = 4 };

/* ---- what bytes can name ---- */

static const struct shape {
    td_syn kind;
    const char *fields;
} shape[] = {
#define SHAPE(kind, fields) {TD_SYN_##kind, fields},
#include "tree.def"
};
static const struct constant {
    td_objkind kind;
    double value;
    const char *text;
} constants[] = {
#define CONST(kind, value, text) {TD_OBJ_##kind, (double)value, text},
#include "tree.def"
};
static const struct name {
    const char *s, *means;
} names[] = {
#define NAME(name, means) {#name, means},
#include "tree.def"
};

#define COUNT(a) (uint32_t)(sizeof(a) / sizeof *(a))

/* Handles of objects: a constant's, a name's, a dtype's, an intrinsic's. */
enum { H_CONST = 1, H_NAME = 1000, H_TYPE = 2000, H_INTRINSIC = 3000 };

static uint32_t
statements(void)
{
    uint32_t n = 0;

    while (shape[n].kind != TD_SYN_Name)
        n++;
    return n;
}

/* ---- bytes to a tree ---- */

typedef struct made {
    const uint8_t *p, *end;
    uint32_t *tree, n, line;
    int deep;
} made;

static uint32_t
next(made *m, uint32_t below)
{
    uint32_t v = m->p < m->end ? *m->p++ : 0;

    return below ? v % below : v;
}

static uint32_t
room(made *m, uint32_t n)
{
    uint32_t at = m->n;

    fuzz_expect(m->n + n <= WORDS);
    memset(m->tree + at, 0, n * sizeof *m->tree);
    m->n += n;
    return at;
}

static uint32_t
bare(made *m, td_syn kind, uint32_t nfield)
{
    uint32_t at = room(m, TD_SYN_HEAD + nfield);

    m->tree[at] = kind;
    m->tree[at + 1] = m->line;
    m->tree[at + 3] = 1;
    return at;
}

static uint32_t node(made *m, uint32_t first, uint32_t last);

static bool
over(const made *m)
{
    return m->deep >= DEEP || m->n > WORDS / 2 || m->p >= m->end;
}

static uint32_t
expression(made *m)
{
    uint32_t first = statements(), at;

    if (over(m)) { /* a leaf */
        at = bare(m, TD_SYN_Name, 1);
        m->tree[at + TD_SYN_HEAD] = next(m, COUNT(names)) + 1;
        return at;
    }
    return node(m, first, COUNT(shape));
}

static uint32_t
statement(made *m)
{
    m->line++;
    return over(m) ? bare(m, TD_SYN_Pass, 0) : node(m, 0, statements());
}

static uint32_t
list(made *m, uint32_t n, uint32_t (*item)(made *m))
{
    uint32_t at = n ? room(m, n + 1) : 0;

    if (n)
        m->tree[at] = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t made_at = item(m);

        m->tree[at + 1 + i] = made_at;
    }
    return at;
}

static uint32_t
operation(made *m, td_syn first, td_syn last)
{
    return bare(m, (td_syn)(first + next(m, last - first + 1)), 0);
}

static uint32_t
comparison(made *m)
{
    return operation(m, TD_SYN_Eq, TD_SYN_NotIn);
}

static uint32_t
identifier(made *m)
{
    return next(m, COUNT(names)) + 1;
}

static uint32_t
keyword(made *m)
{
    uint32_t at = bare(m, TD_SYN_keyword, 2);

    m->tree[at + TD_SYN_HEAD] = next(m, COUNT(names) + 1);
    m->tree[at + TD_SYN_HEAD + 1] = expression(m);
    return at;
}

static uint32_t
target(made *m)
{
    static const td_syn kinds[] = {TD_SYN_Name, TD_SYN_Subscript, TD_SYN_Tuple, TD_SYN_Attribute,
                                   TD_SYN_Starred};
    td_syn kind = kinds[next(m, COUNT(kinds))];
    uint32_t at = statements();

    if (over(m))
        return expression(m);
    while (shape[at].kind != kind)
        at++;
    return node(m, at, at);
}

static uint32_t
generator(made *m)
{
    uint32_t at = bare(m, TD_SYN_comprehension, 3);

    m->tree[at + TD_SYN_HEAD] = target(m);
    m->tree[at + TD_SYN_HEAD + 1] = expression(m);
    m->tree[at + TD_SYN_HEAD + 2] = list(m, next(m, 3), expression);
    return at;
}

static uint32_t
handler(made *m)
{
    uint32_t at = bare(m, TD_SYN_ExceptHandler, 3);

    m->tree[at + TD_SYN_HEAD] = next(m, 2) ? expression(m) : 0;
    m->tree[at + TD_SYN_HEAD + 1] = next(m, COUNT(names) + 1);
    m->tree[at + TD_SYN_HEAD + 2] = list(m, 1 + next(m, LIST), statement);
    return at;
}

static uint32_t
withitem(made *m)
{
    uint32_t at = bare(m, TD_SYN_withitem, 2);

    m->tree[at + TD_SYN_HEAD] = expression(m);
    m->tree[at + TD_SYN_HEAD + 1] = next(m, 2) ? target(m) : 0;
    return at;
}

static uint32_t
parameter(made *m)
{
    uint32_t at = bare(m, TD_SYN_arg, 2);

    m->tree[at + TD_SYN_HEAD] = next(m, COUNT(names)) + 1;
    return at;
}

static uint32_t
parameters(made *m)
{
    uint32_t at = bare(m, TD_SYN_arguments, 7), how = next(m, 0);

    m->tree[at + TD_SYN_HEAD] = how & 16 ? list(m, 1, parameter) : 0;
    m->tree[at + TD_SYN_HEAD + 1] = list(m, how % ARGS, parameter);
    m->tree[at + TD_SYN_HEAD + 2] = how & 32 ? parameter(m) : 0;
    m->tree[at + TD_SYN_HEAD + 3] = how & 64 ? list(m, 1, parameter) : 0;
    m->tree[at + TD_SYN_HEAD + 5] = how & 128 ? parameter(m) : 0;
    return at;
}

/* count: of the list before */
static uint32_t
field(made *m, char what, uint32_t *count)
{
    switch (what) {
    case 'e': return expression(m);
    case 'E': return next(m, 2) ? expression(m) : 0;
    case 't': return target(m);
    case 'T': return list(m, 1 + next(m, 2), target);
    case 's': return list(m, 1 + next(m, LIST), statement);
    case 'S': return list(m, next(m, LIST), statement);
    case 'x': *count = next(m, LIST); return list(m, *count, expression);
    case 'y': *count = 1 + next(m, LIST); return list(m, *count, expression);
    case 'X': return list(m, *count, expression);
    case 'i': return next(m, COUNT(names)) + 1;
    case 'I': return next(m, COUNT(names) + 1);
    case 'N': return list(m, 1 + next(m, 2), identifier);
    case 'o': return H_CONST + next(m, COUNT(constants));
    case 'b': return operation(m, TD_SYN_Add, TD_SYN_BitAnd);
    case 'u': return operation(m, TD_SYN_Invert, TD_SYN_USub);
    case 'l': return operation(m, TD_SYN_And, TD_SYN_Or);
    case 'c': *count = 1 + next(m, 2); return list(m, *count, comparison);
    case 'k': return list(m, next(m, 3), keyword);
    case 'g': return list(m, 1 + next(m, 2), generator);
    case 'h': return list(m, next(m, 3), handler);
    case 'w': return list(m, 1, withitem);
    case 'p': return parameters(m);
    default:  return 0;
    }
}

/* One of the shapes from `first` to before `last`; first == last: that one. */
static uint32_t
node(made *m, uint32_t first, uint32_t last)
{
    const struct shape *s = &shape[first + (last > first ? next(m, last - first) : 0)];
    uint32_t n = (uint32_t)strlen(s->fields), at = bare(m, s->kind, n), count = 0;

    m->deep++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = field(m, s->fields[i], &count);

        m->tree[at + TD_SYN_HEAD + i] = v;
    }
    m->deep--;
    return at;
}

/* A function of the bytes up to `end`. */
static void
function(made *m, td_source *s, const char *name, uint32_t object)
{
    static const char *spelled[COUNT(names)];
    uint32_t at;

    for (uint32_t i = 0; i < COUNT(names); i++)
        spelled[i] = names[i].s;
    m->tree = calloc(WORDS, sizeof *m->tree);
    fuzz_expect(m->tree);
    m->n = m->line = 1;
    at = bare(m, TD_SYN_FunctionDef, 5);
    m->tree[at + TD_SYN_HEAD] = 1;
    m->tree[at + TD_SYN_HEAD + 1] = parameters(m);
    m->tree[at + TD_SYN_HEAD + 2] = list(m, 1 + next(m, 8), statement);
    *s = (td_source){.name = name,
                     .file = "any.py",
                     .line = 1,
                     .text = "def f(a):\n    line\n",
                     .tree = m->tree,
                     .ntree = m->n,
                     .root = at,
                     .names = spelled,
                     .nnames = COUNT(names),
                     .object = object};
}

/* ---- the host ---- */

static td_source sources[2]; /* of the names that mean a function, in their order */

static int
function_of(uint32_t name)
{
    int k = 0;

    for (uint32_t i = 0; i < name; i++)
        k += strcmp(names[i].means, "function") == 0;
    return k;
}

/* The intrinsic of that dotted name; -1: there is none. */
static int
intrinsic(const char *dotted)
{
    size_t n = strlen(dotted);
    const char *all;

    for (int k = 0; *dotted && (all = td_intrinsic(k)); k++)
        for (const char *p = all; (p = strstr(p, dotted)); p++)
            if ((p == all || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
                return k;
    return -1;
}

static td_status
host_name(void *ctx, const td_source *s, uint32_t name, uint32_t *obj)
{
    const char *means = names[name].means;
    int k = intrinsic(means);

    (void)ctx, (void)s;
    if (!*means || (strchr(means, '.') && k < 0 && strncmp(means, "module ", 7) != 0))
        return td_fail(TD_ERR_VALUE, "%s is not defined", names[name].s);
    *obj = k >= 0 ? (uint32_t)(H_INTRINSIC + k) : H_NAME + name;
    return TD_OK;
}

/* The name that a handle stands for; NULL: it stands for something else. */
static const struct name *
named(uint32_t obj)
{
    return obj >= H_NAME && obj - H_NAME < COUNT(names) ? &names[obj - H_NAME] : NULL;
}

static td_status
host_attr(void *ctx, uint32_t obj, const char *name, uint32_t *out)
{
    const struct name *n = named(obj);
    const char *module = n ? n->means : "";
    char dotted[128];
    td_dtype dt;
    int k;

    (void)ctx;
    if (strncmp(module, "module ", 7) == 0) {
        snprintf(dotted, sizeof dotted, "%s.%s", module + 7, name);
        k = intrinsic(dotted);
        if (k >= 0)
            return *out = (uint32_t)(H_INTRINSIC + k), TD_OK;
        for (uint32_t i = 0; i < COUNT(names); i++)
            if (strncmp(names[i].means, "module ", 7) == 0 &&
                strcmp(names[i].means + 7, dotted) == 0)
                return *out = H_NAME + i, TD_OK;
        if (td_dtype_parse(name, &dt) == TD_OK)
            return *out = H_TYPE + dt, TD_OK;
    }
    return td_fail(TD_ERR_VALUE, "no attribute %s", name);
}

static td_status
host_spelled(void *ctx, uint32_t obj, uint32_t *out)
{
    (void)ctx;
    *out = 0;
    return td_fail(TD_ERR_VALUE, "%u has no spelling", obj);
}

static td_status
host_stand_in(void *ctx, const char *name, uint32_t *out)
{
    (void)ctx;
    *out = 0;
    return td_fail(TD_ERR_VALUE, "nothing stands for %s", name);
}

static void
describe_constant(const struct constant *c, td_objinfo *out)
{
    out->kind = c->kind;
    out->text = c->text;
    out->num = c->kind == TD_OBJ_FLOAT || c->kind == TD_OBJ_COMPLEX
                   ? (td_scalar){.dt = c->kind == TD_OBJ_FLOAT ? TD_F64 : TD_C128,
                                 .f = {c->kind == TD_OBJ_FLOAT ? c->value : 0, c->value}}
                   : (td_scalar){.dt = c->kind == TD_OBJ_BOOL ? TD_BOOL : TD_I64,
                                 .i = c->value > 9e18 ? INT64_MAX : (int64_t)c->value};
}

static td_status
host_describe(void *ctx, uint32_t obj, td_objinfo *out)
{
    const struct name *n = named(obj);

    (void)ctx;
    *out = (td_objinfo){.kind = TD_OBJ_OTHER, .text = "<object>"};
    if (obj >= H_INTRINSIC) {
        out->kind = TD_OBJ_INTRINSIC;
        out->number = (int)(obj - H_INTRINSIC);
    } else if (obj >= H_TYPE) {
        out->kind = TD_OBJ_TYPE;
        out->type = td_type_num((td_dtype)(obj - H_TYPE));
    } else if (n) {
        out->text = n->s;
        if (strcmp(n->means, "exception") == 0)
            out->kind = TD_OBJ_EXCEPTION;
        if (strcmp(n->means, "function") == 0) {
            out->kind = TD_OBJ_FUNCTION;
            out->source = &sources[function_of(obj - H_NAME)];
        }
    } else if (obj >= H_CONST && obj - H_CONST < COUNT(constants)) {
        describe_constant(&constants[obj - H_CONST], out);
    }
    return TD_OK;
}

static td_status
host_dtype(void *ctx, const td_type *t, uint32_t *out)
{
    (void)ctx;
    *out = H_TYPE + t->dt;
    return TD_OK;
}

/* ---- a compilation ---- */

static const td_type *
argument(made *m)
{
    static const td_dtype dts[] = {TD_F32, TD_I64, TD_F64,  TD_BOOL, TD_I32,
                                   TD_U8,  TD_C64, TD_C128, TD_F16,  TD_U64};
    const td_type *num = td_type_num(dts[next(m, COUNT(dts))]), *pair[2] = {num, td_type_weak('f')};
    uint32_t how = next(m, 0);

    switch (how % 8) {
    case 0:  return num;
    case 1:  return td_type_weak("ifc"[how / 8 % 3]);
    case 2:  return td_type_tuple(pair, 2);
    case 3:  return td_type_none();
    default: return td_type_array(num, 1 + how / 8 % 3, "CFA"[how / 32 % 3], how > 127);
    }
}

static void
compile(made *m)
{
    td_host host = {.name = host_name,
                    .attr = host_attr,
                    .spelled = host_spelled,
                    .stand_in = host_stand_in,
                    .describe = host_describe,
                    .dtype = host_dtype};
    uint32_t how = next(m, 0) | next(m, 0) << 8, narg = next(m, ARGS);
    td_compile c = {.mode = (td_mode)(how % 4 % 3),
                    .debug = how & 4,
                    .fma = how & 8,
                    .fast = how & 16,
                    .checked = how & 32,
                    .parallel = how & 64,
                    .prange = how & 128,
                    .gpu = how & 256,
                    .watched = (how & 0x600) == 0x600,
                    .plain = how & 2048,
                    .frames = 100};
    const td_type *arg[ARGS];
    made second = {.p = m->p, .end = m->end};
    size_t half;
    td_made out;
    td_arena mem = {0};

    for (uint32_t i = 0; i < narg; i++)
        arg[i] = argument(m);
    half = (size_t)(m->end - m->p) * 3 / 4;
    second.p = m->p + half;
    m->end = m->p + half;
    function(m, &sources[0], "me", H_NAME + 10);
    function(&second, &sources[1], "other", H_NAME + 11);
    if (td_front(&sources[0], &host, arg, narg, &c, &mem, &out)) {
        fuzz_expect(*td_error());
    } else if (out.fn.n < 1000 && !td_fn_has_functions(&out.fn)) {
        td_fn wide = td_fn_new(&mem, out.fn.name);
        const char *why = "";

        if (c.mode == TD_MODE_KERNEL)
            out.fn.simt = true;
        (void)(out.fn.simt ? td_fn_widen(&out.fn, 32, &wide, &why)
                           : td_fn_widen_loops(&out.fn, 32, &wide));
    }
    td_arena_free(&mem);
    free(m->tree);
    free(second.tree);
}

void
td_fuzz(const uint8_t *data, size_t n)
{
    compile(&(made){.p = data, .end = data + n});
}
