"""What the driver's interface is made of: contexts, memory, modules, launches."""
