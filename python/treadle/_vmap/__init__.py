"""vmap and map: functions of one item, run once for all items."""
