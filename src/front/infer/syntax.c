/* syntax.c - the table of node kinds. */
#include "front/infer/syntax.h"

const td_synrow td_syntab[TD_SYN_COUNT] = {
#define SYN(kind, fields) [TD_SYN_##kind] = {#kind, fields},
#include "front/infer/syntax.def"
};
