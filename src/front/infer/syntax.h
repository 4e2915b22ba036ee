/* syntax.h - a syntax tree in a flat buffer of 32-bit words.
 *
 * A node stands at its place (word index, never 0):
 *     [kind, line, col, end_col, field 0, field 1, …]
 * with the fields of its row in syntax.def.  A field holds 0 (absent), the place of a node, the place of a
 * list [n, item 0, …] whose items are fields, a name's number + 1, or an object's handle.
 * Lines count as in the file from 1, columns from 0 in characters.
 */
#ifndef TD_FRONT_SYNTAX_H
#define TD_FRONT_SYNTAX_H
#include <stdint.h>

typedef enum td_syn {
    TD_SYN_NONE,
#define SYN(kind, fields) TD_SYN_##kind,
#include "front/infer/syntax.def"
    TD_SYN_COUNT
} td_syn;

enum { TD_SYN_HEAD = 4 };

/* syn_BinOp_left is where that field stands, counted from the node's place. */
enum {
#define SYN(kind, fields)
#define SYNF(kind, place, field) syn_##kind##_##field = TD_SYN_HEAD + place,
#include "front/infer/syntax.def"
    syn_end
};

typedef struct td_synrow {
    const char *name;   /* of Python's class */
    const char *fields; /* "name:what …"; what: n node, l list of nodes, i identifier, I list of identifiers, o object */
} td_synrow;

extern const td_synrow td_syntab[TD_SYN_COUNT];

#endif
