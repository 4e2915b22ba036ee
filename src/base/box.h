/* box.h - lists, dicts, sets and strings of compiled Python functions.
 *
 * A box's element is a row of 64-bit words: integers and bools widened, floats as float64, boxes as addresses.  The
 * box itself says how many words an element has and what they are (`desc`).  A box that a call makes lies in the
 * call's memory (callmem.h) and is freed with it; a box made without a call belongs to the caller, who drops it.
 * Compiled code reads and writes `n`, `room`, `data` and the elements itself; for all else it calls td_box_ask, the
 * same function in every engine.
 * Not thread-safe: one thread at a time uses a call's boxes.
 */
#ifndef TD_BASE_BOX_H
#define TD_BASE_BOX_H
#include "base/callmem.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum td_boxkind {
    TD_BOX_LIST,
    TD_BOX_DICT,
    TD_BOX_SET,
    TD_BOX_STR,    /* `data`: n characters, uint32 */
    TD_BOX_OBJECT, /* an instance of a class: one element, whose words are the fields, 0 at first */
} td_boxkind;

/* The kind of each word of an element: 3 bits of desc per word, lowest first.  Words beyond the 21st are
 * TD_WORD_OTHER. */
enum { TD_WORD_OTHER, TD_WORD_INT, TD_WORD_UINT, TD_WORD_FLOAT, TD_WORD_STR, TD_WORD_BITS = 3, TD_WORD_MAX = 21 };

typedef struct td_box {
    int64_t  n;     /* elements; characters of a str */
    int64_t  room;  /* elements that fit into `data` */
    uint64_t data;  /* address of the elements: `width` words each, 4 bytes each in a str */
    int64_t  fill;  /* dict, set: elements in `data`, removed ones included */
    uint64_t table; /* dict, set: address of mask + 1 int32 element numbers */
    int64_t  mask;
    int64_t  gone;  /* dict, set: table entries whose element was removed */
    uint64_t hash;  /* str: hash of its characters; 0: not computed yet */
    uint64_t desc;
    uint32_t kind, width, key; /* words of an element; dict, set: 1 (its hash) + key's + value's */
    uint32_t shared; /* Python objects that refer to this box */
    bool     constant; /* a str that its call's table of constants has */
    bool     reached;  /* sweep.c */
    uint64_t serial;   /* how many blocks and boxes its call had made, with this one; 0: it was made without a call */
    /* keeps the memory of the arrays in the box alive; owned by the host program's side; NULL: no arrays */
    void    *held;
    struct td_box *next, **place; /* links in its call's memory; place NULL: it belongs to no call */
} td_box;

/* What compiled code can ask for.  Arguments and results share one row of words; each line lists them, results
 * after ->. */
enum td_boxask {
    TD_ASK_NEW,      /* kind, key words, value words, desc, room -> box */
    TD_ASK_ROOM,     /* box, n: makes room for n elements */
    TD_ASK_SLICE,    /* box, start, stop, step, bits of those given -> list or str */
    TD_ASK_PUT_SLICE, /* box, start, stop, step, bits, list -> 1: lengths differ; then the box's length, the list's */
    TD_ASK_CUT,      /* box, start, stop, step, bits: del box[start:stop:step] */
    TD_ASK_OPEN,     /* list, i: opens a gap for an element before element i */
    TD_ASK_CLOSE,    /* list, i: removes element i */
    TD_ASK_EXTEND,   /* list, list: appends */
    TD_ASK_REPEAT,   /* list or str, times -> new one */
    TD_ASK_REVERSE,  /* list, in place */
    TD_ASK_SORT,     /* list, descending */
    TD_ASK_COPY,     /* box -> new one */
    TD_ASK_CLEAR,    /* box */
    TD_ASK_FIND,     /* dict or set, address of the key's words -> element number, or -1 */
    TD_ASK_ENTER,    /* the same; adds a missing key -> element number, 1 if it is new */
    TD_ASK_DELETE,   /* dict or set, element's number */
    TD_ASK_PACK,     /* dict or set: closes the gaps that removed elements left -> no results */
    TD_ASK_UNITE,    /* set, set: a |= b; dict, dict: a.update(b) */
    TD_ASK_MEET,     /* a &= b */
    TD_ASK_SUBTRACT, /* a -= b */
    TD_ASK_DIFFER,   /* a ^= b */
    TD_ASK_WITHIN,   /* set a, b -> is a a subset of b? */
    TD_ASK_TEXT,     /* address of characters, count -> str; equal characters give the same str */
    TD_ASK_ORDER,    /* str, str -> -1, 0, 1 */
    TD_ASK_JOINED,   /* str, str -> a + b */
    TD_ASK_SEARCH,   /* str, str, start, stop, 1: from the end -> index, or -1 */
    TD_ASK_COUNT,    /* str, str -> number of occurrences */
    TD_ASK_AT_END,   /* str, str, 1: at the end -> does it start (or end) with the second? */
    TD_ASK_INT_TEXT, /* int64 -> str */
    TD_ASK_FLOAT_TEXT, /* float64 -> str as repr's */
    TD_ASK_PICK,     /* str, i -> the str of one character; i is in range */
    TD_ASK_CASE,     /* str, 0: lower, 1: upper, 2: title, 3: swapcase; not ASCII: status 2 */
    TD_ASK_STRIP,    /* str, characters or 0, 1: left, 2: right, 3: both -> str */
    TD_ASK_REPLACE,  /* str, old, new, most replacements -> str */
    TD_ASK_SPLIT,    /* str, separator or 0, most splits -> list of str */
    TD_ASK_JOIN,     /* str, list of str -> str */
    TD_ASK_IS,       /* str, TD_IS_* -> bool; not ASCII: status 2 */
    TD_ASK_NUMBER,   /* str -> int64, float64; words: 1: int, 2: float is wanted; status 2: not a number */
    TD_ASK_FILL,     /* str, width, character, 0: ljust, 1: rjust, 2: center, 3: zfill */
    TD_ASK_SAME,     /* list, list of numbers or str -> are all words of their elements equal? */
    TD_ASK_UFUNC,    /* float64, float64 (or 0), function number -> float64 (ufunc.h); needs no heap */
    TD_ASK_PRINT,    /* address of the call's mailbox: shows what it holds of prints.  Needs no heap */
    TD_ASK_LINEAR,   /* as td_linear_call says; what it returns is the answer.  Needs no heap */
    TD_ASK_SWEEP,    /* mark, count, so many addresses: td_box_sweep */
    TD_ASKS
};
enum { TD_IS_DIGIT, TD_IS_ALPHA, TD_IS_ALNUM, TD_IS_SPACE, TD_IS_UPPER, TD_IS_LOWER };
enum { TD_ASK_OK, TD_ASK_NO_MEMORY, TD_ASK_BAD }; /* what td_box_ask returns */

/* heap: the address of a td_callmem.  words: the address of the row of arguments, which receives the results. */
uint64_t td_box_ask(uint64_t heap, uint64_t words, int64_t which);

/* owned by the call h, or by the caller if h is NULL; NULL: no memory */
td_box *td_box_new(td_callmem *h, td_boxkind kind, uint32_t key, uint32_t value, uint64_t desc);
void    td_box_drop(td_box *b);              /* ok on NULL; takes the box out of its call's memory first */
/* unhold is called with `held` of each dropped box, unless that is NULL */
void    td_box_on_drop(void (*unhold)(void *held));
/* show is called for TD_ASK_PRINT, on the thread that called the function */
void    td_box_on_print(void (*show)(uint64_t mailbox));
void    td_box_own(td_box *b);               /* takes the box out of its call's memory: the caller drops it */
void    td_box_free_all(td_callmem *h);
/* Once the thread's calls have taken enough memory for it to pay: frees h's boxes and blocks whose serial is above
 * mark, unless one of the n addresses word[] is in them, or a box leads there that stays.  All boxes that do so must
 * be h's. */
void    td_box_sweep(td_callmem *h, uint64_t mark, const uint64_t *word, int64_t n);
bool    td_box_room(td_box *b, int64_t n);   /* false: no memory */
uint64_t *td_box_at(const td_box *b, int64_t i); /* element i's words; in a dict or set the first is its hash */
int64_t td_box_find(td_box *b, const uint64_t *key);
/* number of the key's element, which is added if missing; -1: no memory */
int64_t td_box_enter(td_box *b, const uint64_t *key, bool *fresh);
void    td_box_delete(td_box *b, int64_t i);
bool    td_box_pack(td_box *b);
td_box *td_box_text(td_callmem *h, const uint32_t *c, int64_t n);
int     td_box_order(const td_box *a, const td_box *b); /* compares two str: -1, 0 or 1 */
uint64_t td_box_hash_text(td_box *b);
/* boxtext.c: the asks of str */
uint64_t td_box_ask_text(td_callmem *h, uint64_t *w, int64_t which);

static inline td_box *
td_box_of(uint64_t address)
{
    return (td_box *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

#endif
