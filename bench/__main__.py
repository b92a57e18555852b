"""All benchmarks, one after the other: python -m bench"""

from bench import agent, core, imports

for each in (core, agent, imports):
    print(f"\n{each.__name__}: {(each.__doc__ or '').splitlines()[0]}")
    each.main([])
