"""The laboratory beside the library: claims of the papers with verdicts, benchmarks, tables made again, and records.

It imports taylorank and is never imported by it, and is not part of the wheel.
"""
