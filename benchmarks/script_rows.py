"""The rows of whole programs that are no array expressions: functions mapped over lists, data that the device does not
hold, collectives, training.

Each is a program of this folder that is told by arguments who computes, and measures itself.
"""

from row import CPU, GPU, Row, Target

MAPS = {"square": "x * x of 10^6 ints, list to list", "ratio": "-b / a of 10^6 pairs, list to list",
        "escape": "escape counts of 10^5 points, list to list"}
ONLY_MAPS = "maps no functions of Python numbers"
ONLY_TENSORS = "trains no networks"
ARRAYS = {CPU: ("numpy", "numexpr", "numba", "torch", "torch.compile"),
          GPU: ("cupy", "cupy.fuse", "torch", "torch.compile", "numba.cuda", "jax")}


def script(name, group, device, texts, why, **more):
    return Row(name, group, device, "script", (), texts, dict.fromkeys(ARRAYS[device], why), floor=False, **more)


def maps(device):
    for what, name in MAPS.items():
        text = f"programs/mapping.py {what}"
        texts = {"treadle": text + " {ours} {device}", "python": text + " python", "futures": text + " futures"}
        yield script(name, "maps of functions", device, texts, ONLY_MAPS, target=Target(of_best=1.0))


def rows(device):
    return [*maps(device)]
