"""A PNG writer: grey or RGB pictures of 8 bits, still or animated, with the standard library alone.

The format is that of the PNG specification, third edition (which took animation in).
"""

import struct
import zlib

import numpy

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPE = {1: 0, 3: 2}  # channels to the header's code


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixels(frame):
    """Compressed rows, each predicted from the one above (filter 2), which suits photographs."""
    h = frame.shape[0]
    rows = frame.reshape(h, -1)
    above = numpy.zeros_like(rows)
    above[1:] = rows[:-1]
    filtered = numpy.full((h, rows.shape[1] + 1), 2, dtype=numpy.uint8)
    filtered[:, 1:] = rows - above  # modulo 256, as the format wants
    return zlib.compress(filtered.tobytes(), 9)


def png(picture, fps=8):
    """The bytes of a PNG file.

    `picture` is a uint8 array (height, width) or (height, width, 3), or a list of such arrays of
    one shape: the frames of an animation that repeats for ever. ValueError for anything else.
    """
    frames = list(picture) if isinstance(picture, (list, tuple)) else [picture]
    if not frames:
        raise ValueError("png: no frames")
    shape = frames[0].shape
    channels = 1 if len(shape) == 2 else shape[2] if len(shape) == 3 else 0
    if channels not in COLOUR_TYPE or 0 in shape:
        raise ValueError(f"png: shape {shape} is neither (h, w) nor (h, w, 3)")
    for frame in frames:
        if frame.dtype != numpy.uint8 or frame.shape != shape:
            raise ValueError(f"png: {frame.dtype} {frame.shape} in a picture of uint8 {shape}")

    h, w = shape[:2]
    out = [SIGNATURE]
    out.append(_chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, COLOUR_TYPE[channels], 0, 0, 0)))
    if len(frames) == 1:
        out.append(_chunk(b"IDAT", _pixels(frames[0])))
    else:
        out += _animation(frames, w, h, fps)
    out.append(_chunk(b"IEND", b""))
    return b"".join(out)


def _animation(frames, w, h, fps):
    yield _chunk(b"acTL", struct.pack(">II", len(frames), 0))
    number = 0
    for i, frame in enumerate(frames):
        delay = fps if i == len(frames) - 1 else 1  # the last frame stays for a second
        yield _chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, w, h, 0, 0, delay, fps, 0, 0))
        number += 1
        if i == 0:
            yield _chunk(b"IDAT", _pixels(frame))
        else:
            yield _chunk(b"fdAT", struct.pack(">I", number) + _pixels(frame))
            number += 1


def write_png(path, picture, fps=8):
    """Write what png() gives to a file."""
    data = png(picture, fps)
    with open(path, "wb") as file:
        file.write(data)
