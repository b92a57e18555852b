"""Quality flags of a run, as numbers a database can index: bit 0 says that there is any, the others which."""

from itertools import combinations

FLAGS = ("throttled", "unstable", "hot", "short", "few_power_samples", "dvfs_on")
ANY = 1
BIT = {flag: 2 << place for place, flag in enumerate(FLAGS)}


def bits_with(flag: str) -> list[int]:
    """Every value of flag_bits that carries the flag: a list an index can be searched for."""
    others = [bit for name, bit in BIT.items() if name != flag]
    return sorted(
        ANY + BIT[flag] + sum(chosen)
        for count in range(len(others) + 1)
        for chosen in combinations(others, count)
    )


def flags_in(bits: int) -> list[str]:
    return [flag for flag, bit in BIT.items() if bits & bit]
