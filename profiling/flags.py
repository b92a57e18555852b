"""Quality flags of a run, as numbers a database can index: bit 0 says that there is any, the others which."""

FLAGS = ("throttled", "unstable", "hot", "short", "few_power_samples", "dvfs_on")
ANY = 1
BIT = {flag: 2 << place for place, flag in enumerate(FLAGS)}


def flags_in(bits: int) -> list[str]:
    return [flag for flag, bit in BIT.items() if bits & bit]
