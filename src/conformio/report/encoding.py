"""Data inside a page: numbers as base64 of little-endian arrays, everything else as JSON that no parser of HTML ends.

Inside `<script type="application/json">` only `<` can end or open anything (`</script>`, `<!--`); it is written as
an escape, and so are `>`, `&` and all that is not ASCII (U+2028 and U+2029 among it).
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conformio.checks import IntArray

__all__ = ["packed", "packed_whole", "ragged", "safe_json"]

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_WHOLE = ("u1", "u2", "u4")


def safe_json(value: Any) -> str:
    r"""JSON for a script element; no NaN and no infinity.

    Examples
    --------
    >>> safe_json(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def packed(values: ArrayLike, kind: str = "f4") -> dict[str, str]:
    """Numbers as `{"t": type, "d": base64}`; the page turns them into a typed array.

    Parameters
    ----------
    values : array-like
        Flattened row by row.
    kind : {"f4", "f8", "u1", "u2", "u4"}
    """
    flat = np.ascontiguousarray(np.asarray(values).ravel(), dtype=f"<{kind}")
    return {"t": kind, "d": base64.b64encode(flat.tobytes()).decode("ascii")}


def packed_whole(values: ArrayLike) -> dict[str, str]:
    """Whole numbers from 0 on, in the smallest type that holds them."""
    array = np.asarray(values)
    largest = int(array.max(initial=0))
    return packed(array, next(kind for kind in _WHOLE if largest < 256 ** int(kind[1])))


def ragged(lengths: IntArray, items: IntArray) -> dict[str, Any]:
    """Lists of whole numbers: where each starts, and all of them one after the other."""
    return {"start": packed_whole(np.concatenate([[0], np.cumsum(lengths)])), "items": packed_whole(items)}
