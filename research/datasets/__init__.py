"""Data sets that only the papers' tables need; `taylorank.data.datasets.register` adds them to the library's."""
