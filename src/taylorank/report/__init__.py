"""Tables, charts and one self-contained HTML file from the record of a comparison."""

from taylorank.report.page import render_report, require_extra, write_report

__all__ = ["render_report", "require_extra", "write_report"]
