"""What can be said of a fitted pipeline besides its score: findings in words, with remedies and numbers."""

from conformio.diagnosis.evidence import Evidence, role_of
from conformio.diagnosis.findings import Diagnosis, Finding
from conformio.diagnosis.model_card import model_card
from conformio.diagnosis.order import findings_of

__all__ = ["Diagnosis", "Evidence", "Finding", "findings_of", "model_card", "role_of"]
