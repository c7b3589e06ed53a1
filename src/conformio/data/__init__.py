"""Files in, files out: how a tree of values becomes one checked file."""

from conformio.data.archive import Header, fingerprint, read_archive, write_archive

__all__ = ["Header", "fingerprint", "read_archive", "write_archive"]
