"""The forger: files with right checksums and lying contents, for every kind of object that can be saved.

``python -m tests.hardening.forge FIRST COUNT FOLDER [KIND ...]`` makes COUNT forgeries with the seeds from FIRST on,
loads each, asks, edits and saves again what loads. Before each case its number and what was forged are written to
FOLDER/log, so that whoever started the process knows which case ended it. Allowed ends are a `FormatError` from `load`,
and an object whose answers `things.judge` accepts.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np

import wayfold
from tests.hardening import things
from tests.limited import each_case
from wayfold.core.archive import read_archive, write_archive
from wayfold.errors import FormatError, WayfoldError

NUMBERS = (0, 1, -1, 2, 3, -2, 127, 255, 256, 65535, 2**31 - 1, -(2**31), 2**31, 2**53, 2**63 - 1, -(2**63), 10**400)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e-30, 1e12, 1.1e12, -1e12, 1e28, 1e38, 1e300, -1e308, 1.7e308)
STRANGE = (float("nan"), float("inf"), -float("inf"))


# --- arrays --------------------------------------------------------------------------------------------------------


def odd_values(rng, array):
    """Values that do not belong into an array of this dtype, and some that could."""
    if array.dtype.kind == "f":
        some = [*FLOATS, *STRANGE, *(np.nextafter(v, np.inf) for v in array.ravel()[:2])]
    elif array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        near = [int(array.min()) - 1, int(array.max()) + 1, array.size, len(array), -1] if array.size else []
        some = [v for v in (*NUMBERS, info.min, info.max, *near) if info.min <= v <= info.max]
    elif array.dtype.kind == "b":
        some = [True, False]
    elif array.dtype.kind in "US":
        some = ["", "x" * 50]
    else:  # forged before
        some = [0, 1]
    return some


def poke(rng, array):
    """One or a few odd values."""
    flat = array.reshape(-1)
    for _ in range(int(rng.integers(1, 4))):
        some = odd_values(rng, array)
        with np.errstate(over="ignore"):
            flat[rng.integers(flat.size)] = some[rng.integers(len(some))]
    return array


def nudge(rng, array):
    """One value a little larger or smaller."""
    flat = array.reshape(-1)
    at = rng.integers(flat.size)
    if array.dtype.kind == "f":
        flat[at] += rng.normal() * float(np.ptp(array))
    else:
        flat[at] = np.asarray(int(flat[at]) + rng.integers(-2, 3), np.int64).astype(array.dtype)
    return array


def copied(rng, array):
    """One value, or one row, of another place."""
    whole = array if rng.random() < 0.5 else array.reshape(-1)
    whole[rng.integers(len(whole))] = whole[rng.integers(len(whole))]
    return array


def swapped(rng, array):
    """Two values, or two rows, in each other's place."""
    whole = array if rng.random() < 0.5 else array.reshape(-1)
    a, b = rng.integers(len(whole), size=2)
    whole[[a, b]] = whole[[b, a]]
    return array


def drawn(rng, array):
    """All values drawn anew from those that there are."""
    return rng.choice(array.reshape(-1), array.shape)


def as_a_cycle(rng, array):
    """Every entry refers to the next."""
    return np.roll(np.arange(array.size).reshape(array.shape), -1).astype(array.dtype)


ARRAY_FORGERIES = {
    "poke": poke,
    "nudge": nudge,
    "copy": copied,
    "swap": swapped,
    "draw": drawn,
    "cycle": as_a_cycle,
    "shuffle": lambda rng, array: rng.permutation(array.reshape(-1)).reshape(array.shape),
    "shuffle rows": lambda rng, array: rng.permutation(array),
    "reverse": lambda rng, array: array[::-1],
    "roll": lambda rng, array: np.roll(array, 1),
    "sort": lambda rng, array: np.sort(array, axis=0),
    "zero": lambda rng, array: np.zeros_like(array),
    "fill": lambda rng, array: np.full_like(array, array.reshape(-1)[rng.integers(array.size)]),
    "negate": lambda rng, array: ~array if array.dtype.kind == "b" else (0 - array).astype(array.dtype),
    "double": lambda rng, array: (array * 2).astype(array.dtype),
    "grow": lambda rng, array: (array.astype(np.float64) * 1000).astype(array.dtype),
    "cut the end": lambda rng, array: array[: rng.integers(len(array))],
    "cut the start": lambda rng, array: array[rng.integers(1, len(array) + 1) :],
    "repeat": lambda rng, array: np.concatenate([array, array[rng.integers(len(array)) :]]),
    "empty": lambda rng, array: array[:0],
    "other dtype": lambda rng, array: array.astype(rng.choice(["f8", "f4", "i8", "i4", "i2", "u1", "?", "c16", ">i4"])),
    "flat": lambda rng, array: array.reshape(-1),
    "deeper": lambda rng, array: array[..., None],
    "turned": lambda rng, array: np.ascontiguousarray(array.T),
}


def forge_arrays(rng, arrays, meta):
    """One array forged, left out, added, or exchanged with another."""
    names = sorted(arrays)
    name = names[rng.integers(len(names))]
    how = rng.random()
    if how < 0.03:
        del arrays[name]
        return f"without {name}"
    if how < 0.06:
        arrays["extra" if rng.random() < 0.5 else f"{name}/1"] = np.zeros(3)
        return "an array more"
    if how < 0.12:
        other = names[rng.integers(len(names))]
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return f"{name} and {other} exchanged"
    forgeries = sorted(ARRAY_FORGERIES)
    chosen = forgeries[rng.integers(len(forgeries))]
    if arrays[name].size:
        with np.errstate(all="ignore"):
            arrays[name] = ARRAY_FORGERIES[chosen](rng, arrays[name].copy())
    else:
        arrays[name] = np.zeros((2, *arrays[name].shape[1:]), arrays[name].dtype)
        chosen = "filled"
    return f"{name}: {chosen}"


# --- meta ----------------------------------------------------------------------------------------------------------


def places(thing, path=()):
    """Where in meta something can be forged."""
    inner = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


def forge_meta(rng, arrays, meta):
    """One entry of meta forged, left out or added."""
    found = list(places(meta))
    if not found or rng.random() < 0.05:
        meta["extra"] = 1
        return "an entry more"
    path = found[rng.integers(len(found))]
    where = meta
    for key in path[:-1]:
        where = where[key]
    odd = [*NUMBERS, *FLOATS, *STRANGE, None, True, "", "all", "seeds", "x" * 3000, [], {}, [1, 2, 3], [[[]]], {"a": 1}]
    how = rng.random()
    if how < 0.1:
        where.pop(path[-1])
        return f"meta without {path}"
    if how < 0.5 and isinstance(where[path[-1]], (int, float)) and abs(where[path[-1]]) < 2**62:
        where[path[-1]] += [1, -1, 0.5, 1000][rng.integers(4)]
    else:
        where[path[-1]] = odd[rng.integers(len(odd))]
    return f"meta {path}: {str(where[path[-1]])[:30]}"


# --- signing -------------------------------------------------------------------------------------------------------


def sign(file, kind, arrays, meta, aligned):
    """An archive with right checksums, whatever is in it."""
    write_archive(file, kind, arrays, {})
    with zipfile.ZipFile(file) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    manifest = json.loads(members["manifest.json"])
    if aligned and not any(number != number or abs(number) == np.inf for number in _floats(meta)):
        write_archive(file, kind, arrays, meta)
        return
    manifest["meta"] = meta
    members["manifest.json"] = json.dumps(manifest).encode()  # with NaN and infinity
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    Path(file).write_bytes(buffer.getvalue())


def _floats(thing):
    if isinstance(thing, float):
        yield thing
    for inner in thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ():
        yield from _floats(inner)


# --- cases ---------------------------------------------------------------------------------------------------------


def forge(seed, honest, file):
    """The forgery of a seed: writes it and says what was forged."""
    rng = np.random.default_rng(seed)
    names = sorted(honest)
    name = names[seed % len(names)]
    saved = honest[name]
    arrays, meta = {key: array.copy() for key, array in saved.arrays.items()}, json.loads(json.dumps(saved.meta))
    told = []
    for _ in range(1 + int(rng.random() < 0.25)):
        told.append((forge_meta if rng.random() < 0.25 else forge_arrays)(rng, arrays, meta))
        if not arrays:
            break
    kind = saved.kind if rng.random() < 0.98 else "graph"
    sign(file, kind, arrays, meta, aligned=rng.random() < 0.9)
    return name, f"{name}: {'; '.join(told)}"


def attempt(name, file, again):
    """Load a file and use what it holds; raises what is not an allowed end."""
    try:
        thing = wayfold.load(file)
    except FormatError as error:
        return "refused" if len(str(error)) < 400 + len(str(file)) else f"refused with {error}"
    kind = things.SAVED[name]
    if type(thing) is type(kind.make()):
        things.use(thing, kind)
    try:
        thing.save(again)
    except WayfoldError:
        return "used"
    wayfold.load(again)
    return "used and saved"


def main(first, count, folder, *kinds):
    """Run cases, each within limits; prints those that end as they must not, and ends with status 1 then."""
    warnings.simplefilter("ignore")
    folder = Path(folder)
    honest = {}
    for name in kinds or things.SAVED:
        file = folder / "honest.wayfold"
        things.SAVED[name].make().save(file)
        things.use(wayfold.load(file), things.SAVED[name])  # compiles what the cases need, without limits
        honest[name] = read_archive(file)
        honest[name] = honest[name]._replace(arrays={k: a.copy() for k, a in honest[name].arrays.items()})

    def make(seed):
        name, told = forge(seed, honest, folder / "forged.wayfold")
        return told, (name, folder / "forged.wayfold", folder / "again.wayfold")

    each_case(folder, first, count, make, attempt)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
