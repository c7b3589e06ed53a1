"""From files and frames to contexts and decisions, and back to files."""

from conformio.observations.basket_table import BasketTable
from conformio.observations.faults import Fault, FaultReport
from conformio.observations.observed import Observations
from conformio.observations.plan_table import PlanTable
from conformio.observations.stored import table_for
from conformio.observations.table import ObservationTable
from conformio.observations.trip_table import TripTable
from conformio.observations.writing import TableWriter

__all__ = [
    "BasketTable",
    "Fault",
    "FaultReport",
    "ObservationTable",
    "Observations",
    "PlanTable",
    "TableWriter",
    "TripTable",
    "table_for",
]
