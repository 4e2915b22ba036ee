/* types.h - types as they are written: normal spelling, kind and size where tokens tell. */
#ifndef TD_CXX_TYPES_H
#define TD_CXX_TYPES_H
#include "cxx/cxx.h"
#include "cxx/unit.h"

/* The parameters between the brackets open and close. */
void td_types_params(const cx_unit *u, uint32_t open, uint32_t close, td_cxx_param **out, uint32_t *n);
/* Where the comma-separated piece that begins at i ends: at its , or at `end`. */
uint32_t td_types_piece(const cx_unit *u, uint32_t i, uint32_t end);
/* The token of a parameter's name in [i, end); 0: it has none. */
uint32_t td_types_name(const cx_unit *u, uint32_t i, uint32_t end);
/* The type [i, end) in normal spelling. */
const char *td_types_spell(const cx_unit *u, uint32_t i, uint32_t end);
bool td_types_builtin(const tok *t); /* int, unsigned, float … : one of the language's own words */
/* char1 … double4: components, 0: it is none. */
int  td_types_vector(const char *name, uint32_t *size);

#endif
