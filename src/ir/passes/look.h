/* look.h - what ranges.c and its parts share: ranges, and what is known at one place of a kernel. */
#ifndef TD_IR_PASSES_LOOK_H
#define TD_IR_PASSES_LOOK_H
#include "ir/core/ir.h"

enum { TD_LOOK_STEPS = 400000, TD_LOOK_DEPTH = 4 }; /* most instructions looked at; operands of operands */

typedef struct range { /* lo > hi: there is no value; of uint64 with lo < 0: any */
    int64_t lo, hi;
} range;

typedef struct undo {
    uint32_t i;
    range was;
} undo;

typedef struct enclosing { /* a region that is open */
    struct enclosing *up;
    bool left; /* left: a break has reached its end */
    range *exit;          /* the slots there */
} enclosing;

typedef struct meant { /* a slot that `and` or `or` has set: what its value was made of */
    uint32_t set;      /* the number of the set */
    td_val first, second;
    bool both;
} meant;

typedef struct look {
    const td_fn *f;
    const uint64_t *word;
    const uint32_t *grid, *block; /* NULL: not known */
    uint32_t nword, nslot, steps;
    uint32_t *slot; /* of instruction i: the number of its slot */
    uint32_t *seen; /* of a get: the set that it has read */
    uint32_t *last; /* of a slot's number: its last set */
    uint32_t *class; /* of instruction i: the first that computes the same from the same values, or itself */
    uint32_t *same;  /* likewise, but one that each thread has passed that comes to i */
    meant *means; /* of a slot's number */
    uint32_t sets;
    range *v;   /* of instruction i, as far as is known here */
    range *told; /* of a class: what conditions tell of it here */
    range *now; /* of a slot's number */
    undo *trail;
    uint32_t ntrail, captrail;
    enclosing *in;
    bool dead;  /* no thread comes here */
    bool quiet; /* a round of a loop that is walked again */
    bool failed;
    uint8_t *verdict; /* of a check's number: TD_CHECK_… */
} look;

/* ---- range.c ---- */

range range_any(td_dtype dt);
bool  is_any(td_dtype dt, range r);                      /* of uint64 */
range range_fit(td_dtype dt, range r, bool overflow);    /* what arithmetic gives that may leave the dtype */
range range_join(range a, range b);
range range_meet(range a, range b);
bool  is_within(range a, range b);
range range_compare(unsigned op, range a, range b);      /* of bool: of a comparison */
range range_of_bools(unsigned op, range a, range b);
range range_of_two(unsigned op, td_dtype dt, range a, range b);

/* ---- known.c ---- */

bool  is_number(const td_inst *s);                       /* has its value a range? */
bool  is_pure(const td_inst *s);                         /* does it compute from its operands alone? */
range evaluate(look *k, const td_inst *s, int depth);    /* from what is known of its operands here */
range look_at(look *k, td_val v, int depth);             /* what is known of v here, by its operands' operands too */
bool  assume(look *k, td_val c, bool truth, int depth);  /* c is so from here on.  false: it cannot be */
void  go_back(look *k, uint32_t mark);                   /* forgets what was assumed since ntrail was mark */

#endif
