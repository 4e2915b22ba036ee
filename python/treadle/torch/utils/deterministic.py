"""``torch.utils.deterministic``: a switch that changes nothing: memory that torch.empty gives is not filled."""

fill_uninitialized_memory = True
