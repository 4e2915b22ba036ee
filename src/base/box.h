/* box.h - what compiled Python functions keep values in: lists, dicts, sets and strings.
 *
 * A box's elements are words of 64 bits: integers and bools widened, floats as float64, boxes as their addresses.  How
 * many words an element has, and what they are, is its box's to say (`desc`).  Boxes of a call are in the call's
 * memory (callmem.h) and go with it; a box without one is the caller's, who drops it.  Compiled code reads and writes
 * `n`, `room`, `data` and the elements itself; all else it asks for (td_box_ask), in every engine the same functions.
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
    TD_BOX_OBJECT, /* an instance of a class: its fields are the words of one element, 0 at first */
} td_boxkind;

/* What a word of an element is: 3 bits of desc each, from the lowest on; words beyond the 21st are TD_WORD_OTHER. */
enum { TD_WORD_OTHER, TD_WORD_INT, TD_WORD_UINT, TD_WORD_FLOAT, TD_WORD_STR, TD_WORD_BITS = 3, TD_WORD_MAX = 21 };

typedef struct td_box {
    int64_t  n;     /* elements; of a str characters */
    int64_t  room;  /* that `data` holds */
    uint64_t data;  /* address of the elements: of `width` words, of a str of 4 bytes */
    int64_t  fill;  /* dict, set: elements in `data`, those that were taken out too */
    uint64_t table; /* dict, set: address of mask + 1 int32 numbers of elements */
    int64_t  mask;
    int64_t  gone;  /* dict, set: places of the table that elements have left */
    uint64_t hash;  /* str: of its characters; 0: not computed yet */
    uint64_t desc;
    uint32_t kind, width, key; /* words of an element; dict, set: 1 (its hash) + key's + value's */
    uint32_t shared; /* Python objects that refer to it */
    void    *held;   /* the host's: what keeps the memory of arrays in it; NULL: nothing */
    struct td_box *next, **place; /* in its call's memory; place NULL: it is nobody's */
} td_box;

/* What compiled code asks for.  The words that it gives and gets stand in one row; each line names them. */
enum td_boxask {
    TD_ASK_NEW,      /* kind, key words, value words, desc, room -> box */
    TD_ASK_ROOM,     /* box, n: there is room for n elements */
    TD_ASK_SLICE,    /* box, start, stop, step, bits of those that are given -> list or str */
    TD_ASK_PUT_SLICE, /* box, start, stop, step, bits, list; -> 1: lengths differ, values: ours, its */
    TD_ASK_CUT,      /* box, start, stop, step, bits: del box[start:stop:step] */
    TD_ASK_OPEN,     /* list, i: a gap for an element before element i */
    TD_ASK_CLOSE,    /* list, i: takes element i out */
    TD_ASK_EXTEND,   /* list, list: appends */
    TD_ASK_REPEAT,   /* list or str, times -> new one */
    TD_ASK_REVERSE,  /* list */
    TD_ASK_SORT,     /* list, descending */
    TD_ASK_COPY,     /* box -> new one */
    TD_ASK_CLEAR,    /* box */
    TD_ASK_FIND,     /* dict or set, address of the key's words -> number of its element, -1 */
    TD_ASK_ENTER,    /* the same, put in where it is not -> its element's number, 1: it is new */
    TD_ASK_DELETE,   /* dict or set, element's number */
    TD_ASK_PACK,     /* dict or set: no gaps among its elements; -> nothing */
    TD_ASK_UNITE,    /* set, set: a |= b; dict, dict: a.update(b) */
    TD_ASK_MEET,     /* a &= b */
    TD_ASK_SUBTRACT, /* a -= b */
    TD_ASK_DIFFER,   /* a ^= b */
    TD_ASK_WITHIN,   /* set a, b -> is every element of a in b? */
    TD_ASK_TEXT,     /* address of characters, how many -> str, one for equal characters */
    TD_ASK_ORDER,    /* str, str -> -1, 0, 1 */
    TD_ASK_JOINED,   /* str, str -> a + b */
    TD_ASK_SEARCH,   /* str, str, start, stop, from the end -> place, -1 */
    TD_ASK_COUNT,    /* str, str -> how often */
    TD_ASK_AT_END,   /* str, str, at the end -> does it start or end with it? */
    TD_ASK_INT_TEXT, /* int64 -> str */
    TD_ASK_FLOAT_TEXT, /* float64 -> str as repr's */
    TD_ASK_PICK,     /* str, i -> the str of one character; i is in range */
    TD_ASK_CASE,     /* str, 0: lower, 1: upper, 2: title's first, 3: swapped; ASCII, else -> status 2 */
    TD_ASK_STRIP,    /* str, characters or 0, 1: left, 2: right, 3: both -> str */
    TD_ASK_REPLACE,  /* str, old, new, count -> str */
    TD_ASK_SPLIT,    /* str, separator or 0, most -> list of str */
    TD_ASK_JOIN,     /* str, list of str -> str */
    TD_ASK_IS,       /* str, TD_IS_* -> bool; ASCII, else status 2 */
    TD_ASK_NUMBER,   /* str -> int64, float64; words: 1: int, 2: float are wanted; status 2: it is none */
    TD_ASK_FILL,     /* str, width, character, 0: ljust, 1: rjust, 2: center, 3: zfill */
    TD_ASK_SAME,     /* list, list -> are their elements' words equal? (numbers and str alone) */
    TD_ASK_UFUNC,    /* float64, float64 (or 0), number -> float64: ufunc.h; of no heap */
    TD_ASKS
};
enum { TD_IS_DIGIT, TD_IS_ALPHA, TD_IS_ALNUM, TD_IS_SPACE, TD_IS_UPPER, TD_IS_LOWER };
enum { TD_ASK_OK, TD_ASK_NO_MEMORY, TD_ASK_BAD }; /* td_box_ask's answer */

/* heap: the address of a td_callmem; words: of the row. */
uint64_t td_box_ask(uint64_t heap, uint64_t words, int64_t which);

td_box *td_box_new(td_callmem *h, td_boxkind kind, uint32_t key, uint32_t value, uint64_t desc); /* h NULL: the caller's; NULL: no memory */
void    td_box_drop(td_box *b);              /* ok on NULL; also out of its call's memory */
void    td_box_on_drop(void (*unhold)(void *held)); /* called with a dropped box's `held` that is not NULL */
void    td_box_own(td_box *b);               /* it leaves its call's memory: the caller drops it */
void    td_box_free_all(td_callmem *h);
bool    td_box_room(td_box *b, int64_t n);   /* false: no memory */
uint64_t *td_box_at(const td_box *b, int64_t i); /* element i's words; of dict and set: its hash first */
int64_t td_box_find(td_box *b, const uint64_t *key);
int64_t td_box_enter(td_box *b, const uint64_t *key, bool *fresh); /* -1: no memory */
void    td_box_delete(td_box *b, int64_t i);
bool    td_box_pack(td_box *b);
td_box *td_box_text(td_callmem *h, const uint32_t *c, int64_t n);
int     td_box_order(const td_box *a, const td_box *b); /* of two str */
uint64_t td_box_hash_text(td_box *b);
/* boxtext.c: the asks of str */
uint64_t td_box_ask_text(td_callmem *h, uint64_t *w, int64_t which);

static inline td_box *
td_box_of(uint64_t address)
{
    return (td_box *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

#endif
