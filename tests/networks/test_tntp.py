"""Reading the TNTP format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conformio.errors import InvalidInputError
from conformio.networks import Network

GOOD = """<NUMBER OF ZONES> 1\t
<NUMBER OF NODES> 4\t
<FIRST THRU NODE> 2\t
<NUMBER OF LINKS> 3
<ORIGINAL HEADER>~ \tTail\tHead ;
<END OF METADATA>


~\tinit_node\tterm_node\tlength\tfree_flow_time\t;
\t1\t2\t5.5\t0\t;
\t2\t3\t1e3\t4\t;

~ a remark
\t3\t4\t7\t2.25\t;
"""
NODES = "node\tX\tY\t;\n1\t0\t0\t;\n2 1.5 -2\n\n3\t2\t2\t;\n4\t3\t3\t;\n"
DATA = Path(__file__).parents[3] / "shared" / "data" / "tntp"


@pytest.fixture
def write(tmp_path):
    def place(text, name="small_net.tntp"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return place


def test_a_small_network(write):
    network = Network.from_tntp(write(GOOD), nodes=write(NODES, "small_node.tntp"))
    assert network.tails.tolist() == [0, 1, 2]
    assert network.heads.tolist() == [1, 2, 3]
    assert list(network.attributes) == ["length", "free_flow_time"]
    assert network.attributes["free_flow_time"].tolist() == [0.0, 4.0, 2.25]
    assert network.zones.tolist() == [True, False, False, False]
    assert network.node_ids.tolist() == [1, 2, 3, 4]
    assert network.coordinates.tolist() == [[0, 0], [1.5, -2], [2, 2], [3, 3]]
    assert Network.from_tntp(str(write(GOOD))).coordinates is None


def test_first_through_node_one_means_no_zones(write):
    assert not Network.from_tntp(write(GOOD.replace("NODE> 2", "NODE> 1"))).zones.any()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<NUMBER OF NODES> 4\t\n", "", r"small_net.tntp: must have a line <NUMBER OF NODES>"),
        ("<NUMBER OF LINKS> 3\n", "", r"small_net.tntp: must have a line <NUMBER OF LINKS>"),
        ("<FIRST THRU NODE> 2\t\n", "", r"small_net.tntp: must have a line <FIRST THRU NODE>"),
        ("<END OF METADATA>", "", r"small_net.tntp: must have a line <END OF METADATA>"),
        (
            "NODES> 4",
            "NODES> four",
            r"line 2: <NUMBER OF NODES> must be a whole number >= 1 and <= 2147483648; got 'four'",
        ),
        ("NODES> 4", "NODES> 0", r"line 2: <NUMBER OF NODES> must be a whole number >= 1 and <= 2147483648; got '0'"),
        (
            "NODES> 4",
            "NODES> 10000000000000",
            r"line 2: <NUMBER OF NODES> must be a whole number >= 1 and <= 2147483648",
        ),
        ("NODE> 2", "NODE> 6", r"line 3: <FIRST THRU NODE> must be a whole number >= 1 and <= 5; got '6'"),
        ("LINKS> 3", "LINKS> 4", r"line 4: declares 4 links; got 3 links in the file"),
        ("LINKS> 3", "LINKS> 2", r"line 4: declares 2 links; got 3 links in the file"),
        ("\t3\t4\t7\t2.25\t;", "\t3\t4\t7\t2.25", r"line 14: a link must end in ';'"),
        ("\t3\t4\t7\t2.25\t;", "\t3\t4\t7\t;", r"line 14: a link must have 4 numbers, as the header; got 3"),
        ("2.25", "fast", r"line 14: free_flow_time must be a number; got 'fast'"),
        ("2.25", "nan", r"line 14: free_flow_time must be finite; got 'nan'"),
        ("\t3\t4\t7", "\t3\t5\t7", r"line 14: term_node must be a node in 1\.\.4; got 5"),
        ("\t3\t4\t7", "\t2.5\t4\t7", r"line 14: init_node must be a node in 1\.\.4; got 2.5"),
        ("\t3\t4\t7", "\t3\t3\t7", r"line 14: a link must join two nodes; got node 3 twice. Leave it out"),
        (
            "~\tinit_node\tterm_node\tlength\tfree_flow_time\t;\n",
            "",
            r"line 9: the links must follow a header",
        ),
        (
            "init_node\tterm_node\tlength\tfree_flow_time",
            "init_node",
            r"line 9: the header must name the two nodes",
        ),
        ("\tlength\t", "\tterm_node\t", r"line 9: the header must not repeat a column"),
    ],
)
def test_malformed_files_name_file_and_line(write, old, new, message):
    assert old in GOOD
    with pytest.raises(InvalidInputError, match=r"`path` of Network.from_tntp: .*" + message):
        Network.from_tntp(write(GOOD.replace(old, new)))


def test_a_file_that_ends_after_its_metadata(write):
    with pytest.raises(InvalidInputError, match="must have a header line that begins with ~"):
        Network.from_tntp(write(GOOD.partition("\n\n")[0]))
    with pytest.raises(InvalidInputError, match="must have a line <END OF METADATA>"):
        Network.from_tntp(write(""))


def test_files_that_cannot_be_read(write, tmp_path):
    with pytest.raises(
        InvalidInputError, match=r"`path` of .*nowhere.tntp: must be a readable text file.*Check the name"
    ):
        Network.from_tntp(tmp_path / "nowhere.tntp")
    with pytest.raises(InvalidInputError, match="must be a readable text file"):
        Network.from_tntp(tmp_path)
    with pytest.raises(InvalidInputError, match="must be a readable text file"):
        Network.from_tntp(write(b"\xff\xfe\x00"))
    with pytest.raises(InvalidInputError, match=r"`path` of Network.from_tntp: must be a path; got int"):
        Network.from_tntp(3)
    with pytest.raises(InvalidInputError, match=r"`nodes` of Network.from_tntp: .*must be a readable"):
        Network.from_tntp(write(GOOD), nodes=tmp_path / "nowhere.tntp")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3\t2\t2", "3\t2", "line 5: must give a node, x and y"),
        ("3\t2\t2", "3\tx\t2", "line 5: x must be a number; got 'x'"),
        ("3\t2\t2", "5\t2\t2", r"line 5: node must be in 1\.\.4; got 5"),
        ("3\t2\t2", "2\t2\t2", "line 5: must give each node once; got node 2 again"),
        ("3\t2\t2\t;\n", "", "small_node.tntp: must give every node; got none for node 3"),
    ],
)
def test_malformed_coordinates(write, old, new, message):
    with pytest.raises(InvalidInputError, match=r"`nodes` of Network.from_tntp: .*" + message):
        Network.from_tntp(write(GOOD), nodes=write(NODES.replace(old, new), "small_node.tntp"))


@pytest.mark.skipif(not DATA.is_dir(), reason="the public road networks are not on this machine")
@pytest.mark.parametrize(
    ("name", "size", "first_through", "has_nodes"),
    [
        ("SiouxFalls", (24, 76), 1, True),
        ("Anaheim", (416, 914), 39, False),
        ("ChicagoSketch", (933, 2950), 1, True),
        ("ChicagoRegional", (12982, 39018), 1791, True),
    ],
)
def test_public_road_networks(name, size, first_through, has_nodes):
    nodes = DATA / f"{name}_node.tntp" if has_nodes else None
    network = Network.from_tntp(DATA / f"{name}_net.tntp", nodes=nodes)
    assert (network.n_nodes, network.n_edges) == size
    assert network.zones.sum() == first_through - 1
    assert (network.attributes["free_flow_time"] >= 0).all()
    assert (network.coordinates is not None) == has_nodes
    if name == "SiouxFalls":
        assert network.attributes["capacity"][0] == 25900.20064
        np.testing.assert_allclose(network.coordinates[0], [-96.77041974, 43.61282792])
