"""One HTML file about any number of runs, and its figures as files for a paper."""

from groundfault.reports.page.html import write_figures, write_report

__all__ = ["write_figures", "write_report"]
