"""One file for one tree of values: an uncompressed zip of `model.json` and `.npy` arrays, without pickles.

`model.json` names the format, its version and the SHA-256 of every other member and of its own content, so
that what is read is what was written. Members are stored as they are: nothing can unfold to more than the
file's own size. The bytes depend on the content alone; equal models give equal files.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
import tokenize
import zipfile
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from conformio.data.leaves import Arrays, pack, unpack
from conformio.data.whole_files import write_whole
from conformio.errors import ModelFileError, invalid

__all__ = ["Header", "fingerprint", "read_archive", "read_versioned", "write_archive"]

_DOCUMENT = "model.json"
_DAMAGED = "the file is damaged or was altered ({reason}). Write it again with ConformalIO.save, or restore a copy"
_MAX_MEMBERS = 100_000
_TIME = (1980, 1, 1, 0, 0, 0)
# what a crafted document or array header can raise on the way; the last two come from NumPy's header parser
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,
    SyntaxError,
    tokenize.TokenError,
)


@dataclass(frozen=True)
class Header:
    """What the file calls itself, e.g. ``Header("conformio-model", 2, oldest=1)``.

    `version` is written; versions from `oldest` (default: only that) are read.
    """

    format: str
    version: int
    oldest: int | None = None

    def readable(self) -> range:
        """The versions that are read."""
        return range(self.version if self.oldest is None else self.oldest, self.version + 1)


def write_archive(path: str | Path, header: Header, content: dict[str, Any]) -> None:
    """Write the file, whole or not at all.

    Raises
    ------
    InvalidInputError
        If `content` holds something that is neither a JSON value nor an array.
    ModelFileError
        If the file cannot be written.
    """
    target = _as_path(path, "save")
    blob = _zipped(header, content)
    try:
        write_whole(target, blob)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelFileError(f"{target}: cannot be written ({reason}). Choose a file in a folder you own") from error


def read_archive(path: str | Path, header: Header) -> dict[str, Any]:
    """Read what `write_archive` wrote under the same header, every member verified.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, altered, or of another format or version.
    """
    return read_versioned(path, header)[1]


def read_versioned(path: str | Path, header: Header) -> tuple[int, dict[str, Any]]:
    """The file's version and its content; otherwise as `read_archive`."""
    source = _as_path(path, "load")
    try:
        blob = source.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelFileError(f"{source}: cannot be read ({reason}). Check the path") from error
    members = _members(source, blob)
    document = _document(source, members)
    _check_header(source, document, header)
    try:
        arrays = _verified_arrays(document, members)
        content: dict[str, Any] = unpack(document["content"], arrays)
    except _UNREADABLE as error:
        raise _damaged(source, str(error)) from error
    return int(document["version"]), content


def _as_path(path: Any, where: str) -> Path:
    """The path of a file; refuses what is none."""
    if not isinstance(path, (str, os.PathLike)):
        raise invalid(
            "path", where, "must be the path of a file", repr(path), remedy='Write for instance "model.conformio"'
        )
    return Path(path)


def fingerprint(content: dict[str, Any]) -> str:
    """One SHA-256 for a tree of values, arrays included: equal content, equal fingerprint."""
    arrays: Arrays = {}
    packed = pack(content, "content", arrays)
    return _content_digest([packed, {name: _digest(_npy_bytes(array)) for name, array in arrays.items()}])


def _zipped(header: Header, content: dict[str, Any]) -> bytes:
    arrays: Arrays = {}
    packed = pack(content, "model", arrays)
    members = {name: _npy_bytes(array) for name, array in arrays.items()}
    document = {
        "format": header.format,
        "version": header.version,
        "members": {name: _digest(blob) for name, blob in members.items()},
        "content_sha256": _content_digest(packed),
        "content": packed,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, blob in [(_DOCUMENT, text), *members.items()]:
            archive.writestr(zipfile.ZipInfo(name, _TIME), blob)
    return stream.getvalue()


def _npy_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    npy.write_array(stream, np.ascontiguousarray(array).reshape(array.shape), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _digest(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def _content_digest(packed: Any) -> str:
    return _digest(json.dumps(packed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def _damaged(source: Path, reason: str) -> ModelFileError:
    return ModelFileError(f"{source}: {_DAMAGED.format(reason=reason)}")


def _members(source: Path, blob: bytes) -> dict[str, bytes]:
    if not zipfile.is_zipfile(io.BytesIO(blob)):
        remedy = "Write it with ConformalIO.save or conformio fit"
        raise ModelFileError(f"{source}: this is no model file, or it was cut short. {remedy}")
    try:
        with zipfile.ZipFile(io.BytesIO(blob)) as archive:
            infos = archive.infolist()
            _check_directory(infos, len(blob))
            return {info.filename: archive.read(info) for info in infos}
    # what zipfile is known to raise on damaged headers; RuntimeError is its word for encrypted members
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
        ValueError,
        EOFError,
        OSError,
        struct.error,
    ) as error:
        raise _damaged(source, str(error) or "its directory is unreadable") from error


def _check_directory(infos: list[zipfile.ZipInfo], file_size: int) -> None:
    names = [info.filename for info in infos]
    if len(names) > _MAX_MEMBERS or len(set(names)) != len(names):
        raise ValueError("too many or repeated members")
    for info in infos:
        if info.filename != _DOCUMENT and not _is_array_name(info.filename):
            raise ValueError(f"the member name {info.filename!r} is not one of ours")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise ValueError(f"the member {info.filename!r} is compressed")
    if sum(info.file_size for info in infos) > file_size:
        raise ValueError("members claim more bytes than the file has")


def _is_array_name(name: str) -> bool:
    stem = name.removeprefix("arrays/").removesuffix(".npy")
    return name == f"arrays/{stem}.npy" and stem.isascii() and stem.isdigit()


def _document(source: Path, members: dict[str, bytes]) -> dict[str, Any]:
    if _DOCUMENT not in members:
        raise ModelFileError(f"{source}: this zip holds no {_DOCUMENT}, so it is no model file. Check the path")
    try:
        document = json.loads(members[_DOCUMENT], object_pairs_hook=_object, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _damaged(source, f"{_DOCUMENT} is not JSON") from error
    if not isinstance(document, dict):
        raise _damaged(source, f"{_DOCUMENT} holds no object")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of two values for one key, readers of different libraries would see different ones."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _no_number(name: str) -> Any:
    """`NaN` and `Infinity` are no JSON, whatever Python's parser says."""
    raise ValueError(f"{name} is no number")


def _check_header(source: Path, document: dict[str, Any], header: Header) -> None:
    if document.get("format") != header.format:
        got = document.get("format")
        raise ModelFileError(f"{source}: must be a {header.format} file; its format is {got!r}. Check the path")
    version = document.get("version")
    known = header.readable()
    if isinstance(version, bool) or not isinstance(version, int) or version not in known:
        span = f"version {header.version}" if len(known) == 1 else f"versions {known[0]} to {known[-1]}"
        raise ModelFileError(
            f"{source}: this library reads {span} of {header.format}; the file has version "
            f"{version!r}. Read it with the release of conformio that wrote it, or save the model again"
        )


def _verified_arrays(document: dict[str, Any], members: dict[str, bytes]) -> Arrays:
    promised: dict[str, str] = document["members"]
    _check_names(promised.keys(), members.keys() - {_DOCUMENT})
    for name, digest in promised.items():
        if _digest(members[name]) != digest:
            raise ValueError(f"the SHA-256 of {name} differs from the recorded one")
    if _content_digest(document["content"]) != document["content_sha256"]:
        raise ValueError("the SHA-256 of the content differs from the recorded one")
    return {name: _array_from(name, members[name]) for name in promised}


def _check_names(promised: Set[str], present: Set[str]) -> None:
    missing = sorted(promised - present)
    if missing:
        raise ValueError(f"the member {missing[0]} is missing")
    extra = sorted(present - promised)
    if extra:
        raise ValueError(f"the member {extra[0]} is not listed")


def _array_from(name: str, blob: bytes) -> NDArray[Any]:
    """Read one array; its header must account for every byte, so that no shape claims more than is there."""
    stream = io.BytesIO(blob)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError(f"{name} has another array format than the one we write")
    shape, fortran_order, dtype = npy.read_array_header_1_0(stream)
    if dtype.hasobject:
        raise ValueError(f"{name} holds pickled objects, which are never read")
    offset = stream.tell()
    if fortran_order or math.prod(shape) * dtype.itemsize != len(blob) - offset:
        raise ValueError(f"{name} does not have the size its header states")
    return np.frombuffer(blob, dtype, offset=offset).reshape(shape).copy()
