/* programkey.h - compiled CUDA C++ in the disk cache: what is kept, under which key. */
#ifndef TD_JIT_PROGRAMKEY_H
#define TD_JIT_PROGRAMKEY_H
#include "base/hash.h"
#include "dev/compile/source.h"

/* The key of a job, taken before its text is rewritten.  TD_SKIP: do not cache it, since its includes are not
 * known. TD_ERR_LIBRARY: there is no compiler for it. */
td_status td_program_key(const td_source_job *job, td_hash *out);
/* Reads the job's image from disk.  TD_SKIP: it is not there. */
td_status td_program_find(td_hash key, const td_source_job *job, td_image *out);
void      td_program_keep(td_hash key, const td_image *i);

#endif
