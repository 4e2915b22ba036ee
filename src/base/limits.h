/* limits.h - how much of the machine this process may use: its affinity, its control group, the processor's cache. */
#ifndef TD_BASE_LIMITS_H
#define TD_BASE_LIMITS_H
#include <stddef.h>

/* A multiple of the system's page, whatever size the kernel was built for. */
#if defined(__aarch64__)
#define TD_PAGE ((size_t)64 << 10)
#else
#define TD_PAGE ((size_t)4 << 10)
#endif

int    td_limit_cpus(void);   /* processors that this process may use, >= 1; read anew at each call */
size_t td_limit_memory(void); /* bytes of main memory that the process may hold, as far as is known */
size_t td_limit_cache(void);  /* bytes of the last-level cache that a core reaches; 0: not known */
/* bytes at which the system ends the processes of its control group; SIZE_MAX: no limit */
size_t td_limit_group(void);

#endif
