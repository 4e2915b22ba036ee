"""What tensors do: creation, arithmetic, shapes, reductions, text."""
