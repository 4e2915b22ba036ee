/* programkey.h - compiled CUDA C++ on disk: what program.c keeps of an image, and under which key. */
#ifndef TD_JIT_PROGRAMKEY_H
#define TD_JIT_PROGRAMKEY_H
#include "base/hash.h"
#include "dev/compile/source.h"

/* Of a job before its text is rewritten.  TD_SKIP: what it depends on is not known, so it is not kept;
 * TD_ERR_LIBRARY: there is no compiler for it. */
td_status td_program_key(const td_source_job *job, td_hash *out);
/* The image for the job from the disk.  TD_SKIP: it is not there. */
td_status td_program_find(td_hash key, const td_source_job *job, td_image *out);
void      td_program_keep(td_hash key, const td_image *i);

#endif
