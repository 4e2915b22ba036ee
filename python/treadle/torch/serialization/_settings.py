"""The records of a file, and settings of PyTorch's files that change nothing here."""

import enum
import zipfile


class PyTorchFileReader:
    """The records of a file that save() or PyTorch wrote. Raises RuntimeError if there is no such record."""

    def __init__(self, file):
        self._archive = zipfile.ZipFile(file)
        names = self._archive.namelist()
        self._home = names[0].partition("/")[0] + "/" if names else ""

    def get_all_records(self):
        """Their names."""
        return [n.removeprefix(self._home) for n in self._archive.namelist()]

    def has_record(self, name):
        """Is there a record of this name?"""
        return self._home + name in self._archive.namelist()

    def get_record(self, name):
        """The bytes of a record."""
        if not self.has_record(name):
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return self._archive.read(self._home + name)


class LoadEndianness(enum.Enum):
    """The byte order of files that do not say it."""

    NATIVE, LITTLE, BIG = 1, 2, 3


_settings = {"endianness": None, "mmap": 2, "crc32": True}  # mmap: MAP_PRIVATE
SourceChangeWarning = type("SourceChangeWarning", (Warning,), {"__doc__": "PyTorch's, for files before 1.6."})


def get_default_load_endianness():
    """What set_default_load_endianness was told."""
    return _settings["endianness"]


def set_default_load_endianness(endianness):
    """Keep the setting. It changes nothing: files say their order, and this machine's is little. Raises TypeError for
    anything but a LoadEndianness."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _settings["endianness"] = endianness


def get_default_mmap_options():
    """What set_default_mmap_options was told."""
    return _settings["mmap"]


class set_default_mmap_options:
    """Keep the setting, as a call and as a context manager. It changes nothing: files are read, not mapped."""

    def __init__(self, flags):
        if flags not in (1, 2):
            raise ValueError(f"Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                             f"mmap.MAP_SHARED, but got {flags}")  # fmt: skip
        self._before, _settings["mmap"] = _settings["mmap"], flags

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _settings["mmap"] = self._before


def get_crc32_options():
    """What set_crc32_options was told."""
    return _settings["crc32"]


def set_crc32_options(compute_crc32):
    """Keep the setting. It changes nothing: files always have the checksums."""
    _settings["crc32"] = bool(compute_crc32)
