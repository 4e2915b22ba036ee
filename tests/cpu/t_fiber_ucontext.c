/* t_fiber_ucontext.c - the same tests over what machines without an assembly switch take. */
#define TD_CONTEXT_UCONTEXT
#include "../../src/base/context.c" /* NOLINT(bugprone-suspicious-include): compiled anew */
#include "../../src/base/fiber.c"   /* NOLINT(bugprone-suspicious-include) */
#include "../../src/base/stacks.c"  /* NOLINT(bugprone-suspicious-include) */

#include "t_fiber.c" /* NOLINT(bugprone-suspicious-include) */
