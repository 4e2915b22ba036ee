/* draws.c - random numbers of compiled functions: which generator a place in the program draws from.
 *
 * treadle._compile._drawing._draws implements the functions of numpy.random and random in Python; treadle.draws(which) gives
 * them the words of the generator (base/draws.h).  Each piece of a parallel loop has generators of its own, seeded
 * when it begins, so its numbers depend on the seed and not on the thread that runs it.
 */
#include "base/draws.h"
#include "front/infer/intrin.h"

/* The address of the current generator: that of the running piece of a parallel loop, else the thread's. */
static td_val
row_at(walk *w, int which)
{
    td_val at = hidden_address(w, TD_HIDDEN_DRAWS);
    int64_t row = TD_DRAWS_WORDS * sizeof(uint32_t);
    td_val k;

    if (w->piece.i == UINT32_MAX)
        return TD_E2(w->f, add, at, td_const_int(w->f, TD_U64, row * which));
    k = TD_E2(w->f, add, w->piece, td_const_int(w->f, TD_I64, 1));
    k = TD_E2(w->f, multiply, k, td_const_int(w->f, TD_I64, 2 * row));
    k = TD_E2(w->f, add, k, td_const_int(w->f, TD_I64, row * which));
    return TD_E2(w->f, add, at, td_cast(w->f, k, TD_U64));
}

static td_status
refuse_here(walk *w)
{
    const char *where = w->exact                          ? "an item that CPython's numbers decide"
                        : w->how->gpu                     ? "what runs on a GPU"
                        : w->how->mode == TD_MODE_KERNEL  ? "a kernel"
                        : w->how->mode == TD_MODE_ELEMENT ? "a ufunc"
                        : w->outline                      ? "a function that calls itself"
                                                          : NULL;

    return !where
               ? TD_OK
               : bad(w, w->node, TD_ERR_TYPE,
                     "numpy.random and random cannot be drawn from in %s: draw an array before, or "
                     "use cuda.random's states",
                     where);
}

/* draws(which): the words of the generator of numpy.random (0) or random (1), to read and write. */
td_status
fn_draws(walk *w, const call *c, int number, thing *out)
{
    dim words = dim_known(TD_DRAWS_WORDS);
    int64_t which;

    (void)number;
    TD_TRY(want_args(w, c, "draws", 1, 1));
    if (!known_int(c->arg, &which))
        return bad(w, c->node, TD_ERR_TYPE, "draws takes 0 or 1");
    TD_TRY(refuse_here(w));
    note_draws(w);
    /* libm's logarithms equal NumPy's to the last bit; drawing is sequential anyway */
    w->f->libm = true;
    *out = array_thing(w, td_type_num(TD_U32), 1, &words,
                       td_pointer(w->f, row_at(w, (int)which), TD_U32), SPACE_GLOBAL, "draws");
    /* all draws write the same memory, which exists before the loops */
    out->view->root = NO_ARG + 1 + hidden_address(w, TD_HIDDEN_DRAWS).i;
    return built(w, c->node);
}

/* libm(): math functions of the whole function equal the C library's, as those of NumPy's distributions do. */
td_status
fn_libm(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "libm", 0, 0));
    w->f->libm = true;
    *out = (thing){.type = td_type_none()};
    return TD_OK;
}

static td_val
u32(walk *w, int64_t v)
{
    return td_const_int(w->f, TD_U32, v);
}

static td_val
word_at(walk *w, td_val row, int64_t i)
{
    return td_load(w->f, row, td_const_int(w->f, TD_I64, i), TD_NONE, 1, 0);
}

static void
set_word_at(walk *w, td_val row, int64_t i, td_val v)
{
    td_store(w->f, row, td_const_int(w->f, TD_I64, i), v, TD_NONE, 0);
}

td_val
draws_base(walk *w)
{
    td_val numpys = td_pointer(w->f, row_at(w, 0), TD_U32),
           pythons = td_pointer(w->f, row_at(w, 1), TD_U32),
           loops = word_at(w, numpys, TD_DRAWS_LOOPS), both;

    set_word_at(w, numpys, TD_DRAWS_LOOPS, TD_E2(w->f, add, loops, u32(w, 1)));
    both = TD_E2(w->f, add, word_at(w, numpys, 1),
                 TD_E2(w->f, multiply, word_at(w, pythons, 1), u32(w, 0x85ebca6b)));
    return TD_E2(w->f, add, both, TD_E2(w->f, multiply, loops, u32(w, 0x9e3779b9)));
}

/* key[0] = seed; key[i] = 1812433253 (key[i - 1] ^ key[i - 1] >> 30) + i */
static void
seed_key(walk *w, td_val row, td_val seed)
{
    td_val x = td_slot(w->f, TD_U32, 1), i, v, mixed;

    td_set(w->f, x, seed);
    i = td_for(w->f, td_const_int(w->f, TD_I64, 0), td_const_int(w->f, TD_I64, TD_DRAWS_NEXT),
               td_const_int(w->f, TD_I64, 1));
    v = td_get(w->f, x);
    td_store(w->f, row, i, v, TD_NONE, 0);
    mixed = TD_E2(w->f, bitwise_xor, v, TD_E2(w->f, right_shift, v, u32(w, 30)));
    mixed = TD_E2(w->f, multiply, mixed, u32(w, 1812433253));
    td_set(w->f, x,
           TD_E2(w->f, add, mixed,
                 td_cast(w->f, TD_E2(w->f, add, i, td_const_int(w->f, TD_I64, 1)), TD_U32)));
    td_end(w->f);
    set_word_at(w, row, TD_DRAWS_NEXT, u32(w, TD_DRAWS_NEXT));
    set_word_at(w, row, TD_DRAWS_KEPT, u32(w, 0));
}

td_status
draws_seed(walk *w, td_val base, td_val piece)
{
    td_val seed = TD_E2(w->f, multiply, td_cast(w->f, piece, TD_U32), u32(w, 0xc2b2ae35));

    seed = TD_E2(w->f, add, seed, base);
    for (int which = 0; which < 2; which++)
        seed_key(w, td_pointer(w->f, row_at(w, which), TD_U32),
                 TD_E2(w->f, add, seed, u32(w, which)));
    return built(w, w->node);
}
