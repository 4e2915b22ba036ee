#include "dev/compiler.h"
static td_status version(char *out, size_t n){(void)out;(void)n;return td_fail(TD_ERR_LIBRARY,"no nvrtc");}
static td_status compile(const td_source_job *job, td_image *out){(void)job;(void)out;return TD_ERR_LIBRARY;}
const td_compiler td_compiler_nvrtc = {version, compile}, td_compiler_nvcc = {version, compile};
