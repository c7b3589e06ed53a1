"""Files: round trips, and every way in which a file can be missing, cut, altered or hostile."""

import hashlib
import io
import json
import math
import os
import zipfile
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from conformio.data import Header, archive, fingerprint, read_archive, write_archive
from conformio.data.leaves import pack, unpack
from conformio.errors import InvalidInputError, ModelFileError

HEADER = Header("test-format", 3)
CONTENT = {
    "words": ["a", "ü", "", None, True, 7, 2.5],
    "angles": np.array([0.1, 0.2, np.pi]),
    "pair": (1, ("x", 2.0)),
    "routes": sparse.csr_array(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])),
}


@pytest.fixture
def path(tmp_path):
    write_archive(tmp_path / "m.zip", HEADER, CONTENT)
    return tmp_path / "m.zip"


def parts_of(path):
    with zipfile.ZipFile(path) as stored:
        return {info.filename: stored.read(info) for info in stored.infolist()}


def rewrite(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as stored:
        for name, blob in members.items():
            stored.writestr(name, blob)


def forge(path, change):
    """Rewrite a file with valid checksums around whatever `change(document, members)` does."""
    members = parts_of(path)
    document = json.loads(members.pop("model.json"))
    change(document, members)
    document["members"] = {name: hashlib.sha256(blob).hexdigest() for name, blob in members.items()}
    document["content_sha256"] = archive._content_digest(document["content"])
    rewrite(path, {"model.json": json.dumps(document), **members})


class TestRoundTrip:
    def test_every_kind_of_leaf(self, path):
        got = read_archive(path, HEADER)
        assert got["words"] == CONTENT["words"]
        assert got["pair"] == (1, ("x", 2.0))
        assert (got["routes"] != CONTENT["routes"]).nnz == 0
        np.testing.assert_array_equal(got["angles"], CONTENT["angles"])

    @pytest.mark.parametrize(
        "array",
        [
            np.array(3.5),
            np.zeros((0, 4)),
            np.array([[1, 2], [3, 4]], dtype=np.int32),
            np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            np.array([True, False]),
            np.array(["a", "long"]),
            np.array([1.0, np.nan, -np.inf]),
            np.array([1.0, 2.0], dtype=">f8"),
            np.arange(10)[::2],
        ],
    )
    def test_arrays_bit_for_bit(self, tmp_path, array):
        write_archive(tmp_path / "a", HEADER, {"x": array})
        got = read_archive(tmp_path / "a", HEADER)["x"]
        assert got.dtype == array.dtype
        assert got.shape == array.shape
        np.testing.assert_array_equal(got, array)
        assert got.flags.writeable

    def test_numbers_json_cannot_say(self, tmp_path):
        write_archive(tmp_path / "a", HEADER, {"x": [math.inf, -math.inf, math.nan], "n": np.float64(0.1)})
        got = read_archive(tmp_path / "a", HEADER)
        assert got["x"][:2] == [math.inf, -math.inf]
        assert math.isnan(got["x"][2])
        assert got["n"] == 0.1

    @pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
    def test_a_generator_continues_where_it_was(self, tmp_path, bits):
        rng = np.random.Generator(bits(5))
        rng.random(3)
        write_archive(tmp_path / "a", HEADER, {"rng": rng})
        restored = read_archive(tmp_path / "a", HEADER)["rng"]
        np.testing.assert_array_equal(restored.random(4), rng.random(4))

    def test_equal_content_gives_equal_bytes(self, path, tmp_path):
        write_archive(tmp_path / "again", HEADER, CONTENT)
        assert (tmp_path / "again").read_bytes() == path.read_bytes()

    def test_the_document_is_readable(self, path):
        text = parts_of(path)["model.json"].decode()
        assert '\n  "format": "test-format"' in text
        assert "ü" in text

    def test_overwriting_leaves_no_draft(self, path):
        write_archive(path, HEADER, {"other": 1})
        assert read_archive(path, HEADER) == {"other": 1}
        assert os.listdir(path.parent) == ["m.zip"]

    def test_fingerprints_see_values_and_arrays(self):
        base = fingerprint({"a": np.arange(3.0), "b": 1})
        assert base == fingerprint({"b": 1, "a": np.arange(3.0)})
        assert base != fingerprint({"a": np.arange(3.0), "b": 2})
        assert base != fingerprint({"a": np.array([0.0, 1.0, 2.5]), "b": 1})


class TestWriting:
    @pytest.mark.parametrize(
        ("value", "got"),
        [
            (lambda u: u, "function"),
            (object(), "object"),
            (np.array([object()]), "dtype object"),
            ({1: 2}, "the key 1"),
            ({"$array": 2}, r"the key '\$array'"),
            (1j, "complex"),
        ],
    )
    def test_what_cannot_be_stored_is_named(self, tmp_path, value, got):
        with pytest.raises(InvalidInputError, match=rf"`model.deep\[1\]` of save.*got .*{got}"):
            write_archive(tmp_path / "a", HEADER, {"deep": [0, value]})
        assert os.listdir(tmp_path) == []

    def test_unknown_generators_are_refused(self, tmp_path):
        class Own(np.random.PCG64):
            pass

        with pytest.raises(InvalidInputError, match="a generator of kind Own"):
            write_archive(tmp_path / "a", HEADER, {"rng": np.random.Generator(Own(1))})

    def test_a_missing_folder(self, tmp_path):
        with pytest.raises(ModelFileError, match=r"cannot be written \(No such file.*Choose a file"):
            write_archive(tmp_path / "no" / "a", HEADER, CONTENT)

    def test_a_failed_move_keeps_the_old_file_and_no_draft(self, path, monkeypatch):
        before = path.read_bytes()

        def fail(source, target):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(archive.os, "replace", fail)
        with pytest.raises(ModelFileError, match="No space left"):
            write_archive(path, HEADER, {"other": 1})
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == ["m.zip"]


class TestReadingDamage:
    def test_missing_file(self, tmp_path):
        with pytest.raises(ModelFileError, match=r"cannot be read \(No such file.*Check the path"):
            read_archive(tmp_path / "none", HEADER)

    def test_a_folder(self, tmp_path):
        with pytest.raises(ModelFileError, match="cannot be read"):
            read_archive(tmp_path, HEADER)

    @pytest.mark.parametrize("blob", [b"", b"hello", b"PK\x03\x04 not really"])
    def test_no_zip(self, tmp_path, blob):
        (tmp_path / "a").write_bytes(blob)
        with pytest.raises(ModelFileError, match="no model file, or it was cut short"):
            read_archive(tmp_path / "a", HEADER)

    def test_every_truncation_is_seen(self, path):
        blob = path.read_bytes()
        for size in range(0, len(blob), 7):
            path.write_bytes(blob[:size])
            with pytest.raises(ModelFileError):
                read_archive(path, HEADER)

    def test_flipped_bytes_are_seen_or_harmless(self, path):
        blob, want = path.read_bytes(), fingerprint(CONTENT)
        seen = 0
        places = range(0, len(blob), 3)
        for k in places:
            path.write_bytes(blob[:k] + bytes([blob[k] ^ 0xFF]) + blob[k + 1 :])
            try:
                assert fingerprint(read_archive(path, HEADER)) == want
            except ModelFileError:
                seen += 1
        assert seen > 0.7 * len(places)

    def test_other_zip(self, tmp_path):
        rewrite(tmp_path / "a", {"arrays/0000.npy": b""})
        with pytest.raises(ModelFileError, match=r"holds no model\.json"):
            read_archive(tmp_path / "a", HEADER)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("{", "is not JSON"),
            ("[" * 100_000, "is not JSON"),
            ("3", "no object"),
            ('{"format": "a", "format": "b"}', "is not JSON"),
            ('{"format": NaN}', "is not JSON"),
        ],
    )
    def test_bad_documents(self, tmp_path, text, reason):
        rewrite(tmp_path / "a", {"model.json": text})
        with pytest.raises(ModelFileError, match=reason):
            read_archive(tmp_path / "a", HEADER)

    def test_missing_member(self, path):
        members = parts_of(path)
        del members["arrays/0001.npy"]
        rewrite(path, members)
        with pytest.raises(ModelFileError, match=r"the member arrays/0001\.npy is missing"):
            read_archive(path, HEADER)

    def test_extra_member(self, path):
        rewrite(path, parts_of(path) | {"arrays/0099.npy": b"x"})
        with pytest.raises(ModelFileError, match=r"arrays/0099\.npy is not listed"):
            read_archive(path, HEADER)

    def test_array_replaced(self, path):
        rewrite(path, parts_of(path) | {"arrays/0000.npy": archive._npy_bytes(np.zeros(3))})
        with pytest.raises(ModelFileError, match=r"the SHA-256 of arrays/0000\.npy differs"):
            read_archive(path, HEADER)

    def test_document_edited(self, path):
        members = parts_of(path)
        members["model.json"] = members["model.json"].replace(b"2.5", b"2.6")
        rewrite(path, members)
        with pytest.raises(ModelFileError, match="the SHA-256 of the content differs"):
            read_archive(path, HEADER)

    def test_other_format(self, path):
        with pytest.raises(ModelFileError, match="must be a model-x file; its format is 'test-format'"):
            read_archive(path, Header("model-x", 3))

    @pytest.mark.parametrize("version", [2, 4, True, None, "3"])
    def test_unknown_version_names_both(self, path, version):
        forge(path, lambda document, members: document.update(version=version))
        with pytest.raises(ModelFileError, match=f"reads version 3 of test-format; the file has version {version!r}"):
            read_archive(path, HEADER)


class TestReadingHostileFiles:
    @pytest.mark.parametrize("name", ["../evil.npy", "/etc/x", "arrays/../x.npy", "arrays/a.npy", "x", "arrays/²¹.npy"])
    def test_member_names(self, path, name):
        rewrite(path, parts_of(path) | {name: b"x"})
        with pytest.raises(ModelFileError, match="is not one of ours"):
            read_archive(path, HEADER)

    def test_compressed_members_cannot_unfold(self, path):
        rewrite(path, parts_of(path) | {"arrays/0009.npy": bytes(10**7)}, zipfile.ZIP_DEFLATED)
        with pytest.raises(ModelFileError, match="is compressed"):
            read_archive(path, HEADER)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_repeated_members(self, path):
        with zipfile.ZipFile(path, "a") as stored:
            stored.writestr("model.json", "{}")
        with pytest.raises(ModelFileError, match="too many or repeated members"):
            read_archive(path, HEADER)

    def test_overlapping_members_cannot_multiply(self):
        infos = [zipfile.ZipInfo(f"arrays/{k:04d}.npy") for k in range(3)]
        for info in infos:
            info.file_size = info.compress_size = 500
        with pytest.raises(ValueError, match="members claim more bytes than the file has"):
            archive._check_directory(infos, 1000)

    def test_pickled_arrays_are_never_loaded(self, path):
        stream = io.BytesIO()
        np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)

        def plant(document, members):
            members["arrays/0000.npy"] = stream.getvalue()

        forge(path, plant)
        with pytest.raises(ModelFileError, match="holds pickled objects, which are never read"):
            read_archive(path, HEADER)

    @pytest.mark.parametrize("shape", [(10**15,), (2**40, 2**40), (1,), (-3,)])
    def test_shapes_that_claim_other_sizes(self, path, shape):
        stream = io.BytesIO()
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})

        def plant(document, members):
            members["arrays/0000.npy"] = stream.getvalue() + bytes(24)

        forge(path, plant)
        with pytest.raises(ModelFileError, match="does not have the size its header states"):
            read_archive(path, HEADER)

    @pytest.mark.parametrize("blob", [b"", b"\x93NUMPY", b"\x93NUMPY\x03\x00", b"\x93NUMPY\x01\x00\x08\x00{'a\n'((("])
    @pytest.mark.filterwarnings("ignore:Reading `.npy`")
    def test_broken_array_headers(self, path, blob):
        forge(path, lambda document, members: members.update({"arrays/0000.npy": blob}))
        with pytest.raises(ModelFileError, match="damaged or was altered"):
            read_archive(path, HEADER)

    @pytest.mark.parametrize(
        ("leaf", "reason"),
        [
            ({"$array": "arrays/0077.npy"}, "missing array"),
            ({"$array": ["x"]}, "missing array"),
            ({"$pickle": "x"}, "unknown kind"),
            ({"$tuple": 3}, "a tuple that is no list"),
            ({"$number": "12"}, "the number '12'"),
            ({"$tuple": [], "x": 1}, "an object with the keys"),
            ({"$csr": {"shape": [1, 1]}}, "sparse matrix"),
            ({"$csr": 3}, "sparse matrix"),
            ({"$generator": {"kind": "os", "state": 1}}, "generator of the unknown kind"),
            ({"$generator": {"kind": "PCG64", "state": 1}}, "generator without a usable state"),
            ({"$generator": 5}, "generator without a usable state"),
        ],
    )
    def test_leaves_that_nothing_writes(self, path, leaf, reason):
        forge(path, lambda document, members: document["content"].update(extra=leaf))
        with pytest.raises(ModelFileError, match=reason):
            read_archive(path, HEADER)

    def test_sparse_matrices_with_wild_indices(self, path):
        def plant(document, members):
            members["arrays/0002.npy"] = archive._npy_bytes(np.array([0, 99], dtype=np.int32))

        forge(path, plant)
        with pytest.raises(ModelFileError, match="damaged or was altered"):
            read_archive(path, HEADER)

    def test_a_document_without_content(self, path):
        members = parts_of(path)
        document = json.loads(members["model.json"])
        del document["content"]
        rewrite(path, members | {"model.json": json.dumps(document)})
        with pytest.raises(ModelFileError, match="damaged or was altered"):
            read_archive(path, HEADER)


@pytest.mark.parametrize("level", [np.float32(0.8), Decimal("0.9"), Fraction(9, 10)])
def test_exact_numbers_keep_their_kind(level):
    arrays = {}
    back = unpack(json.loads(json.dumps(pack(level, "level", arrays))), arrays)
    assert type(back) is type(level)
    assert back == level


@pytest.mark.parametrize("wrong", [{"$fraction": "1/0"}, {"$decimal": "x"}, {"$float32": [1]}])
def test_exact_numbers_that_are_none(wrong):
    with pytest.raises(ValueError, match="the number"):
        unpack(wrong, {})
