"""Files that appear whole or not at all: written beside their place first, then moved there."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file; readers see the older one until the new one is complete.

    Raises
    ------
    OSError
        If it cannot be written, or is a folder, device or pipe; nothing is left behind then.
    """
    if path.exists() and not path.is_file():
        # moving into place would put a file where a device is
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        with draft.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
