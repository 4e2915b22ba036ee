/* roll.h - a plan whose kernel runs the rounds of a program's loop. */
#ifndef TD_ARRAY_ROLL_H
#define TD_ARRAY_ROLL_H
#include "array/graph/repeat.h"
#include "array/plan/plan.h"

/* Adds all nodes of r to an empty plan: those before the rounds, one round in a loop, those behind.  step[i] becomes that of
 * node i; of nodes in the rounds nothing can be read.  May copy a table of numbers to the device.  TD_SKIP: the plan is full. */
td_status td_plan_roll(td_plan *p, const td_repeat *r, uint16_t step[]);

#endif
