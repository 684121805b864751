"""Named benchmarks against peers; each module has `run(*, quick=False)`, which returns JSON-ready results."""
