"""The papers' tables, run again: what each holds, the run that fills it, and the page that shows ours beside theirs."""

from research.reproduce.run import left_out, reproduce
from research.reproduce.tables import TABLES, Row, Table, table_named

__all__ = ["TABLES", "Row", "Table", "left_out", "reproduce", "table_named"]
