"""A fitted model and decisions it has not seen, as one page that needs nothing else."""

from conformio.report.measures import Baseline, Measures, measure
from conformio.report.page import page_of, write_report

__all__ = ["Baseline", "Measures", "measure", "page_of", "write_report"]
