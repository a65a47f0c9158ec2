"""The kernels of a radix sort: counts, scans, scatters, onesweep, and the sort of one work-group alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, OTHER, SOURCE, VALUES_IN, VALUES_OUT, VALUES_TMP
from hsgen.algorithms.radix import finish, msd
from hsgen.algorithms.radix.params import Params
from hsgen.algorithms.radix.words import columns, words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

WORDS, TABLE = Buffer(name="words", type="word"), Buffer(name="table", type="wide")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a template must know beyond the parameters: whether the kernel stores whole lines."""

    lines: bool = False


def rank_arrays(p: Params) -> tuple[Array, ...]:
    """Return what ranking a tile needs in local memory, for the ranker of a shape."""
    tile = Array(name="tile", type="key", count=p.tile)
    order = (_array("order", p.tile),) if p.valued else ()  # where each key came from, or its value
    digits = (*_digits(p), *order)
    if p.ranker in ("ballot", "broadcast"):
        return (tile, *digits, _array("counts", p.subgroups * p.radix))
    if p.ranker == "flags":
        return (tile, *digits, _array("flags", p.radix * flag_words(p)))
    return (tile, *digits, *(_array(f"part{i}", p.work_group) for i in range(p.split)))


def _digits(p: Params) -> tuple[Array, ...]:
    """What a scan over digits takes."""
    return _array("totals", p.radix), _array("firsts", p.radix), _array("sums", p.work_group), _array("mixed", 2)


def flag_words(p: Params) -> int:
    """Words of lane flags for each digit."""
    return -(-p.work_group // 32)


def _array(name: str, count: int) -> Array:
    return Array(name=name, type="word", count=count)


def _kernel(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = ()) -> Kernel:
    """A kernel with a full work-group and no subgroup operations."""
    walks = p.serial and name in ("count", "scatter", "single")
    folder = "radix/" if not walks else "radix/serial_" if p.subgroup == 1 else "radix/simd_"
    return Kernel(
        name=name + ("_wide" if p.wide else ""),
        template=folder + name,
        summary=summary,
        work_group=p.work_group,
        subgroup=p.subgroup if walks else 1,
        ballot=walks and p.subgroup > 1,
        wide=p.wide,
        buffers=(*buffers, *([TABLE] if p.wide else []), *([DEVICE_N] if p.form.counted else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        data=Body(),
    )


def _ranking(p: Params, name: str, summary: str, buffers: tuple[Buffer, ...], more: tuple[Array, ...] = ()) -> Kernel:
    """A kernel that ranks tiles."""
    kernel = _kernel(p, name, summary, buffers, (*rank_arrays(p), *more))
    resident = p.resident if name != "single" else 0
    return replace(kernel, subgroup=p.subgroup, ballot=p.ranker == "ballot", resident=resident)


ALL = (SOURCE, DESTINATION, OTHER, WORDS)


def moving(p: Params, *keys: Buffer) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel that moves keys: these, and those of the values that go with them."""
    if not p.valued:
        return keys
    return (*keys, *([] if p.form.index else [VALUES_IN]), VALUES_OUT, VALUES_TMP)


def picking(kernel: Kernel, *, keys: bool = True) -> Kernel:
    """Return a kernel that picks buffers by the number of where keys lie: of keys, and of values if it moves them."""
    values = VALUES_TMP in kernel.buffers
    return replace(kernel, picks=("key",) * keys + ("value",) * values)


def counters(p: Params) -> int:
    """Return the counters of a work-group that counts: of each lane its own where lanes walk, and two sets for a
    lane alone, so that equal digits in a row do not wait for each other."""
    if not p.serial:
        return p.radix
    return p.radix * (2 if p.folded else p.work_group)


def count(p: Params) -> Kernel:
    """Return the kernel that counts the digits of the keys of each work-group (serial: of each chunk)."""
    made = _kernel(p, "count", "count the digits", ALL, (_array("counts", counters(p)), *_found(p, "scan")))
    return made if p.serial else picking(made)


def _found(p: Params, coordination: str) -> tuple[Array, ...]:
    """Where lanes of a work-group that reads all keys say that some are out of order."""
    return (_array("found", 1),) if p.sorted_exit and p.coordination == coordination else ()


def rows(p: Params) -> Kernel:
    """Return the kernel that scans the counts of one digit over all work-groups."""
    if p.serial:
        return _kernel(p, "rows", "scan the counts of one digit a lane", (WORDS,))
    sums = Array(name="sums", type="wide" if p.wide else "word", count=p.work_group)
    return _kernel(p, "rows", "scan the counts of one digit a work-group", (WORDS,), (sums,))


def scatter(p: Params) -> Kernel:
    """Return the kernel that brings every key to its place, by the scanned counts."""
    if p.serial:
        sums = () if p.folded else (_array("sums", p.work_group),)
        arrays = (_array("counts", p.radix * columns(p)), *sums)
        return _kernel(p, "scatter", "walk chunks and store each key at its place", moving(p, *ALL), arrays)
    bases = Array(name="bases", type="wide" if p.wide else "word", count=p.radix)
    what = "rank tiles and store their keys at their places"
    return picking(_ranking(p, "scatter", what, moving(p, *ALL), (bases,)))


def stream(p: Params) -> Kernel:
    """Return the serial scatter that stores whole lines past the caches."""
    lines = Array(name="lines", type="key", count=p.radix * p.line, align=64)
    kernel = replace(
        scatter(p), name="scatter_lines", summary="walk chunks and store keys by the line, past the caches"
    )
    return replace(kernel, arrays=(*kernel.arrays, _array("firsts", p.radix), lines), data=Body(lines=True))


def single(p: Params) -> Kernel:
    """Return the kernel that sorts what one work-group can alone."""
    p = replace(p, bits=p.single_bits or p.bits, single_bits=None)
    if p.serial:
        moved = moving(p, *ALL[:3])
        buffers = tuple(b if b.read_only else replace(b, coherent=p.work_group > 1) for b in moved)
        arrays = (_array("counts", counters(p)), _array("sums", p.work_group))
        return _kernel(p, "single", f"sort up to {p.alone} keys in one work-group", buffers, arrays)
    buffers = tuple(b for b in moving(p, *ALL[:2]) if b != VALUES_TMP)
    if p.coordination == "grid":  # whose tiles are for many work-groups
        p = replace(p, items=-(-p.alone // p.work_group))
    made = _ranking(p, "single", f"sort up to {p.alone} keys in one work-group", buffers, _places(p))
    return replace(made, template="radix/single_places") if p.places else made


def _places(p: Params) -> tuple[Array, ...]:
    """What sorting by places takes besides what ranking does: see templates/radix/places.j2."""
    return (_array("places", p.places), *msd.sums(p.work_group, p.subgroup), _array("full", 4)) if p.places else ()


def copy(p: Params) -> Kernel:
    """Return the kernel that brings the keys to the destination where the passes left them elsewhere."""
    return picking(_kernel(p, "copy", "copy the keys to the destination, unless they are there", moving(p, *ALL)))


def histogram(p: Params) -> Kernel:
    """Return the kernel that counts the digits of all passes in one read, and clears the states of tiles."""
    counts = _array("counts", len(p.digits) * p.radix * p.sets)
    return _kernel(p, "histogram", "count the digits of all passes", (SOURCE, WORDS), (counts, *_found(p, "lookback")))


def begin(p: Params) -> Kernel:
    """Return the kernel that clears flags, tickets and counts: always, since flags are looked at whatever the count."""
    return replace(_kernel(p, "begin", "clear flags, tickets and counts", (WORDS,)), always=not p.endless)


def starts(p: Params) -> Kernel:
    """Return the kernel that makes starts of the counts, and says where the keys are before each pass."""
    return _kernel(p, "starts", "turn the counts of all passes into starts", (WORDS,), _digits(p))


def onesweep(p: Params) -> Kernel:
    """Return the kernel that does a whole pass: rank a tile, look back for its places, store."""
    more = (_array("bases", p.radix), _array("drawn", 1) if p.endless else _array("late", 2))
    what = "rank a tile, look back, store its keys at their places"
    return picking(_ranking(p, "onesweep", what, moving(p, *ALL), more))


def grid(p: Params) -> Kernel:
    """Return the kernel that does all passes in one launch, whose work-groups wait for each other."""
    more = (_array("bases", p.radix), _array("live", 2 if p.places else 1), *_places(p))
    what = f"sort up to {p.groups * p.tile} keys in one launch"
    made = _ranking(p, "grid", what, moving(p, SOURCE, DESTINATION, WORDS), more)
    return replace(picking(made, keys=False), cooperative=True)


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return every kernel of the sort, in the order in which a sort uses them."""
    made = [single(p)] if p.alone else []
    if p.coordination == "grid":
        return (*made, grid(p))
    if p.msd:
        made += msd.kernels(p, rank_arrays(msd.rest(p)))
    if p.coordination == "lookback":
        made += [begin(p), histogram(p), starts(p), onesweep(p)]
    if p.finish:
        made += finish.kernels(p, words(p).finish, _digits(p), rank_arrays(finish.rest(p)))
    if not p.endless:
        made += [count(p), *([] if p.folded else [rows(p)]), scatter(p), *([stream(p)] if p.stream else [])]
    made += [copy(p)] if p.copied else []
    return (*made, *(kernels(large(p)) if p.large else ()))


def large(p: Params) -> Params:
    """Return the shape of the kernels for 2^30 keys and more: the same tiles, counted in 64 bits."""
    return replace(p, large=False, wide=True, coordination="scan", single=0, msd_from=0, sorted_exit=False)


def context(p: Params) -> dict[str, object]:
    """Return what the templates need besides the kernel and the parameters."""
    return {
        "at": words(p),
        "msd": msd.layout(p, words(p).msd, words(p).table) if p.msd else None,
        "crowd": msd.CROWD,
        "passes": p.digits,
        "part": p.form.ranged or (p.begin, p.end) != (0, None),
        "bit_range": None if p.form.ranged else (p.begin, p.key.bits if p.end is None else p.end),
        "flag_words": flag_words(p),
        "columns": columns(p),
        "index": "hs_long" if p.wide else "int",
        "count": "hs_wide" if p.wide else "hs_word",
    }
