/* report.h - how a kernel reports failures and prints to the host: the mailbox.
 *
 * A kernel that can report has a hidden argument, the address of a mailbox that the host reads after the kernel:
 * pinned host memory for a GPU, any memory for a CPU.  It is all zero before the first launch, except `capacity`.
 * The first failure of a launch wins: the thread that changes `site` from 0 fills in the rest.
 */
#ifndef TD_FRONT_REPORT_H
#define TD_FRONT_REPORT_H
#include <stdint.h>

enum { TD_REPORT_VALUES = 8 };

typedef enum td_report {
    TD_REPORT_RAISE,    /* raise X("…"): object, text */
    TD_REPORT_RAISE_WITH, /* raise X(…) of several values: object; text: each behind \2, numbers and computed strings as \1 */
    TD_REPORT_ASSERT,   /* text: the message, or "" */
    TD_REPORT_INDEX,    /* text: the array's name; values: axis, index, then its shape */
    TD_REPORT_ZERO,     /* division by zero in a checked function; text: the operation */
    TD_REPORT_OVERFLOW, /* index arithmetic; text: the operation */
    TD_REPORT_SHAPE,    /* text: the operation; values: the two extents that do not fit */
    TD_REPORT_EMPTY,    /* text: the reduction that an empty array has no value of */
    TD_REPORT_UNBOUND,  /* text: the variable that is read and has no value */
    TD_REPORT_ABSENT,   /* text: what was looked for where it is not */
    TD_REPORT_DEPTH,    /* text: the function that calls itself; values: how deep */
    TD_REPORT_MEMORY,   /* no memory for an array; values: its bytes */
    TD_REPORT_LOOKUP, /* IndexError: text, as the next five */
    TD_REPORT_KEY,    /* KeyError; the key is its value where there is no text */
    TD_REPORT_VALUE,  /* ValueError */
    TD_REPORT_CHANGED, /* RuntimeError */
    TD_REPORT_ROOM,   /* MemoryError */
    TD_REPORT_NONE,   /* TypeError; text: the type of the value that there is not */
    TD_REPORT_HALT,     /* breakpoint(): a word stored to the port is the address of words: the site's number, then the
                           values of arg[]; text: their names, each behind '\1' */
    TD_REPORT_PRINT,    /* text: pieces around the values, separated by '\1' */
} td_report;

typedef struct td_mailbox {
    uint32_t site;     /* number of the failed place: index in td_made.site + 1; 0: none */
    uint32_t ready;    /* 1: all of the failure has been written */
    int32_t  block[3], thread[3];
    uint64_t value[TD_REPORT_VALUES]; /* bits as td_param carries them; complex: two */
    uint64_t used;     /* words of prints reserved; beyond capacity they are lost */
    uint64_t capacity; /* words */
    uint64_t owner;    /* address of what the host keeps about the mailbox */
    uint64_t word[];   /* prints: site number, then the values' words; place 0 of a record that was not finished is 0 */
} td_mailbox;

#endif
