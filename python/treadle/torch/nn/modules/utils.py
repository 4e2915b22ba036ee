"""What modules' state dictionaries need besides."""


from ...._public import dir_of as _dir_of


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes the prefix ("module.") off the names of a state dictionary, in place."""
    for name in [n for n in state_dict if n.startswith(prefix)]:
        state_dict[name[len(prefix) :]] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", None)
    for name in list(metadata or ()):
        if name == prefix.rstrip(".") or name.startswith(prefix):
            metadata[name[len(prefix) :]] = metadata.pop(name)


__dir__ = _dir_of(__name__)
