"""``torch.utils.tensorboard``: event files for TensorBoard with numbers, histograms, images and texts.

This module writes the files itself (protocol buffers in records with checksums), so it needs no package.
"""

import io
import os
import socket
import struct
import time
import zlib

import numpy

from ... import torch
from ..._public import dir_of as _dir_of

__all__ = ["FileWriter", "SummaryWriter"]


def _table():
    """The table of CRC-32C, for one byte at a time."""
    found = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        found.append(n)
    return found


_CRC = _table()


def _checksum(data):
    """The masked CRC-32C of a record."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


# ---- protocol buffers: a field is its number and kind, then its bytes ----


def _varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def _field(number, value):
    """The field of an int, a float (as a double), a text or bytes. Nothing for None."""
    if value is None:
        return b""
    if isinstance(value, float):
        return _varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value & 0xFFFFFFFFFFFFFFFF)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _single(number, value):
    return _varint(number << 3 | 5) + struct.pack("<f", value)


def _doubles(number, values):
    return _field(number, numpy.asarray(values, "<f8").tobytes())


def _plugin(name, tag_value):
    """Metadata that says which of TensorBoard's plugins shows a value."""
    return _field(9, _field(1, _field(1, name))) + tag_value


def _numbers(value):
    value = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else numpy.asarray(value)
    return value


class FileWriter:
    """Writes events to a new file in log_dir."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self._dir = os.fspath(log_dir)
        os.makedirs(self._dir, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{id(self)}"
        self._file = open(os.path.join(self._dir, name + filename_suffix), "ab")
        self._event(_field(3, "brain.Event:2"), time.time(), None)

    def get_logdir(self):
        """The folder."""
        return self._dir

    def _event(self, body, walltime, step):
        data = _field(1, float(time.time() if walltime is None else walltime)) + _field(2, step) + body
        head = struct.pack("<Q", len(data))
        checks = struct.pack("<I", _checksum(head)), struct.pack("<I", _checksum(data))
        self._file.write(head + checks[0] + data + checks[1])

    def _value(self, tag, body, step, walltime):
        step = None if step is None else int(step)
        self._event(_field(5, _field(1, _field(1, tag) + body)), walltime, step)

    def flush(self):
        """Write what is buffered to disk."""
        self._file.flush()

    def close(self):
        """Close the file."""
        if not self._file.closed:
            self._file.close()


class SummaryWriter:
    """Writes numbers, histograms, images and texts for TensorBoard to log_dir (None: runs/<time>_<host>comment)."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            log_dir = os.path.join("runs", time.strftime("%b%d_%H-%M-%S") + f"_{socket.gethostname()}{comment}")
        self.log_dir, self.purge_step = os.fspath(log_dir), purge_step
        self._suffix, self._parts = filename_suffix, {}
        self.file_writer = FileWriter(self.log_dir, filename_suffix=filename_suffix)
        if purge_step is not None:  # starts a session, which voids earlier events from this step on
            self.file_writer._event(_field(7, _field(1, 1)), None, purge_step)

    def get_logdir(self):
        """The folder."""
        return self.log_dir

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """Add a number at a step."""
        value = _numbers(scalar_value)
        if value.size != 1:
            raise AssertionError(f"scalar should be 0D: {tag!r} has shape {value.shape}")
        self.file_writer._value(tag, _single(2, float(value.reshape(()))), global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Add several numbers to one diagram, each in a folder of its own."""
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            if folder not in self._parts:
                self._parts[folder] = FileWriter(folder, filename_suffix=self._suffix)
            self._parts[folder]._value(main_tag, _single(2, float(_numbers(value).reshape(()))), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """Add a histogram of values. Raises ValueError if there are none."""
        values = _numbers(values).astype("f8").reshape(-1)
        if not values.size:
            raise ValueError("The input has no element.")
        count = max_bins or (30 if isinstance(bins, str) else None)
        counts, edges = numpy.histogram(values, bins=count if isinstance(bins, str) else bins)
        body = b"".join(
            _field(n, float(v)) for n, v in enumerate(
                (values.min(), values.max(), values.size, values.sum(), (values**2).sum()), 1)
        )  # fmt: skip
        body += _doubles(6, edges[1:]) + _doubles(7, counts)
        self.file_writer._value(tag, _field(5, body), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """Add a picture of floats in [0, 1], or of bytes, with 1, 3 or 4 channels."""
        image = _numbers(img_tensor)
        if image.ndim != len(dataformats):
            raise AssertionError(f"size of input tensor and input format are different: tensor shape {image.shape}, "
                                 f"input_format: {dataformats}")  # fmt: skip
        image = image.transpose([dataformats.index(c) for c in "HWC" if c in dataformats])
        image = image[..., None] if "C" not in dataformats else image
        self._image(tag, image, global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Add pictures side by side."""
        images = _numbers(img_tensor).transpose([dataformats.index(c) for c in "NHWC"])
        columns = min(len(images), 8)
        images = numpy.concatenate([images, numpy.zeros((-len(images) % columns, *images.shape[1:]), images.dtype)])
        n, h, w, c = images.shape
        grid = images.reshape(n // columns, columns, h, w, c).transpose(0, 2, 1, 3, 4)
        self._image(tag, grid.reshape(n // columns * h, columns * w, c), global_step, walltime)

    def _image(self, tag, image, step, walltime):
        if image.dtype.kind == "f":
            image = (image * 255).clip(0, 255)
        image = numpy.ascontiguousarray(image.astype("u1"))
        height, width, channels = image.shape
        body = _field(1, height) + _field(2, width) + _field(3, channels) + _field(4, _png(image))
        self.file_writer._value(tag, _field(4, body), step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """Add a figure of Matplotlib's."""
        for i, one in enumerate(figure if isinstance(figure, list) else [figure]):
            data = io.BytesIO()
            one.savefig(data, format="rgba", dpi=one.dpi)
            width, height = map(round, one.get_size_inches() * one.dpi)
            image = numpy.frombuffer(data.getvalue(), "u1").reshape(height, width, 4)
            self._image(tag if i == 0 else f"{tag}/{i}", image, global_step, walltime)
            if close:
                import matplotlib.pyplot

                matplotlib.pyplot.close(one)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """Add a text."""
        shape = _field(2, _field(2, _field(1, 1)))
        body = _field(8, _field(1, 7) + shape + _field(8, text_string))  # 7 means texts
        self.file_writer._value(f"{tag}/text_summary", _plugin("text", body), global_step, walltime)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """Add the parameters of a run as a text, and its results as numbers."""
        rows = "\n".join(f"| {k} | {v} |" for k, v in hparam_dict.items())
        self.add_text("hparams", f"| parameter | value |\n| --- | --- |\n{rows}", global_step)
        for k, v in metric_dict.items():
            self.add_scalar(k, v, global_step)

    def add_custom_scalars(self, layout):
        """NotImplementedError."""
        self._refuse("add_custom_scalars", "add_scalars draws several numbers in one picture")

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """NotImplementedError."""
        self._refuse("add_graph", "print(model) shows its modules, TREADLE_DUMP what is computed")

    def _refuse(self, name, instead, *unused, **options):
        raise NotImplementedError(f"SummaryWriter.{name} is not in treadle.torch: {instead}")

    def add_embedding(self, *args, **kwargs):
        """NotImplementedError."""
        self._refuse("add_embedding", "write the matrix with numpy.savetxt for projector.tensorflow.org")

    def add_video(self, *args, **kwargs):
        """NotImplementedError."""
        self._refuse("add_video", "add_images shows the frames")

    def add_audio(self, *args, **kwargs):
        """NotImplementedError."""
        self._refuse("add_audio", "write the sound with the standard library's wave")

    def add_pr_curve(self, *args, **kwargs):
        """NotImplementedError."""
        self._refuse("add_pr_curve", "draw the curve, and give it to add_figure")

    def add_mesh(self, *args, **kwargs):
        """NotImplementedError."""
        self._refuse("add_mesh", "draw the mesh, and give it to add_figure")

    def flush(self):
        """Write what is buffered to disk."""
        for writer in (self.file_writer, *self._parts.values()):
            writer.flush()

    def close(self):
        """Close the files."""
        for writer in (self.file_writer, *self._parts.values()):
            writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _png(image):
    """A picture (height, width, channels) of bytes, as a PNG file."""
    height, width, channels = image.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    rows = numpy.concatenate([numpy.zeros((height, 1), "u1"), image.reshape(height, -1)], 1).tobytes()

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


__dir__ = _dir_of(__name__)
