"""The fast engine: one source for every variant, in the subset that `cuda.jit` accepts too.

Kernels allocate nothing, raise nothing and do not recurse: callers hand them every array, errors
come back as negative codes. They read the rules from a `RuleTable` only. `_jit.py` is the one
file that imports numba.
"""
