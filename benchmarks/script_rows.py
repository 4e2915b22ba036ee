"""The rows of whole programs that are no array expressions: functions mapped over lists, data that the device does not
hold, collectives, training.

Each is a program of this folder that is told by arguments who computes, and measures itself.
"""

from row import CPU, GPU, Row, Target

MAPS = {"square": "x * x of 10^6 ints, list to list", "ratio": "-b / a of 10^6 pairs, list to list",
        "escape": "escape counts of 10^5 points, list to list"}
ONLY_MAPS = "maps no functions of Python numbers"
ONLY_TENSORS = "trains no networks"
ARRAYS = {CPU: ("numpy", "numexpr", "numba", "torch", "torch.compile", "jax"),
          GPU: ("cupy", "cupy.fuse", "torch", "torch.compile", "numba.cuda", "jax")}


def script(name, group, device, texts, why, **more):
    cannot = {library: why for library in ARRAYS[device] if library not in texts}
    return Row(name, group, device, "script", (), texts, cannot, floor=False, **more)


def maps(device):
    for what, name in MAPS.items():
        text = f"programs/mapping.py {what}"
        texts = {"treadle": text + " {ours} {device}", "python": text + " python", "futures": text + " futures"}
        yield script(name, "maps of functions", device, texts, ONLY_MAPS, target=Target(of_best=1.0))


def bigger(device):
    """A file of four times what arrays may take; twice read, so the floor is the bus or the disk cache."""
    gigabytes, rounds = (32, 1) if device == GPU else (2, 3)
    text = f"bigger.py --gigabytes {gigabytes} --limit {gigabytes / 4:g}"
    texts = {"treadle": text + " --by {ours} --device {device}",
             "numpy.host" if device == GPU else "numpy": f"{text} --by numpy --rounds {rounds}"}
    return script(f"standardise and reduce a file of {gigabytes} GB, memory limited to a quarter", "bigger than memory",
                  device, texts, "takes arrays that fit",
                  target=Target(of_floor=0.85) if device == GPU else Target(of_best=1.0))


def both_ways():
    """Arrays of twice what fits, walked over; a result as large as its source. The floor: as much each way at once."""
    for what, name in (("spill", "walk over arrays of 8 GB, of which 4 GB fit"),
                       ("out", "2 x of 8 GB to the host, memory limited to 4 GB")):  # fmt: skip
        text = f"bigger.py --gigabytes 8 --limit 4 --what {what} --by {{ours}} --device {{device}}"
        yield script(name, "bigger than memory", GPU, {"treadle": text}, "takes arrays that fit",
                     target=Target(of_floor=0.8))


def training(device):
    """Steps of the digits' classifier, each with its loss looked at, as the example does; then by two processes."""
    for batch, hidden in ((64, 256), (4096, 2048) if device == GPU else (1024, 512)):
        text = f"programs/digits.py --device {device} --batch {batch} --hidden {hidden}"
        texts = {"treadle": "-m {ours} --device {device} " + text, "torch": text, "torch.compile": text + " --compile"}
        yield script(f"training step of the digits' classifier, batch {batch}, {hidden} wide", "training", device,
                     texts, ONLY_TENSORS, alike=False, target=Target(of_best=1.0))
    if device == GPU:
        for batch, hidden in ((64, 256), (16384, 2048)):
            text = f"programs/parallel.py {{}} --device cuda --batch {batch} --hidden {hidden}"
            texts = {"treadle": text.format("{ours}.torch"), "torch": text.format("torch")}
            yield script(f"the same by two GPUs, batch {batch} on each, {hidden} wide", "training", device, texts,
                         ONLY_TENSORS, alike=False, target=Target(of_floor=0.95))


def nets(device):
    """Steps of a recurrent and of a convolutional network, each with its loss looked at."""
    many = 256 if device == GPU else 32
    for net, batch, name in (
        ("lstm", 20, "two layers of LSTM, 200 wide, 35 steps, batch 20"),
        ("convolutions", many, f"six convolutions with batch norm, batch {many}"),
    ):
        text = f"programs/nets.py {net} --device {device} --batch {batch}"
        texts = {"treadle": "-m {ours} --device {device} " + text, "torch": text, "torch.compile": text + " --compile"}
        yield script(f"training step of {name}", "training", device, texts, ONLY_TENSORS, alike=False,
                     target=Target(of_best=1.0))  # fmt: skip


def rows(device):
    return [*maps(device), bigger(device), *(both_ways() if device == GPU else ()), *training(device),
            *nets(device)]
