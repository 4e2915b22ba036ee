// cooperative_groups/memcpy_async.h - see cooperative_groups.h.
#pragma once
#include "../cooperative_groups.h"
