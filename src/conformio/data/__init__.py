"""Files in, files out: how a tree of values becomes one checked file."""

from conformio.data.archive import Header, fingerprint, read_archive, read_versioned, write_archive
from conformio.data.fingerprints import data_fingerprint
from conformio.data.whole_files import write_whole

__all__ = [
    "Header",
    "data_fingerprint",
    "fingerprint",
    "read_archive",
    "read_versioned",
    "write_archive",
    "write_whole",
]
