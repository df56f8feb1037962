# SPDX-License-Identifier: Apache-2.0
"""Encoders make what randomizers take, whatever they are given, and give records of a domain back.

Privacy rests on the first law: no record, however malformed, is encoded outside the ball, the cube
or the labels. Unbiased answers rest on the second.
"""

import math

import numpy as np
import pytest

import lownoise as ln
from cases import MEMBERS
from lownoise.errors import FileError, TableError
from lownoise.local_model import ENCODERS, FULL, EllipsoidEncoder, NearestEncoder, RangeEncoder
from lownoise.planning.local_verb import encoders_of
from lownoise.sets.domains import Points

ODD = [
    None, "", "no number", "1e400", "-inf", "0x1F", "true", math.nan, math.inf, -math.inf, 1e308,
    -1e308, 10**400, True, 5e-324, -0.0, b"7", object(), [1], {"a": 1}, 1j, np.float32(3),
]  # fmt: skip
WIDE = [member for member in MEMBERS if np.any(member.domain.upper > member.domain.lower)]
HELD = [m for m in WIDE if not m.slow]


def encoders(domain, order=2.0):
    names = [f"x{i}" for i in range(domain.dimension)]
    return encoders_of(ln.Mean(names, domain), order, np.ones(domain.dimension))


def taken(encoder, encoded):
    """Whether a randomizer takes each row, counted in Python's integers."""
    rows = encoded.tolist()
    if encoder.makes == "ball":
        return all(sum(y * y for y in row) <= FULL**2 for row in rows)
    if encoder.makes == "cube":
        return all(abs(y) <= FULL for row in rows for y in row)
    return all(len(row) == 1 and 0 <= row[0] < encoder.dimension for row in rows)


def back(encoder, encoded):
    """The answers that exact estimates of one record give, in a row each."""
    if encoder.makes == "label":
        return np.array([encoder.decode(np.eye(encoder.dimension)[k]) for (k,) in encoded])
    return np.array([encoder.decode(y / FULL) for y in encoded])


@pytest.mark.grid(least=3)
@pytest.mark.parametrize("member", HELD, ids=lambda m: m.name)
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_records_of_a_domain_come_back(member, order):
    records = member.sample(np.random.default_rng(7), 40)
    domain = member.domain
    for encoder in encoders(domain, order):
        encoded = encoder.encode(records)
        assert encoded.dtype == np.int64
        assert encoded.shape[0] == 40
        assert taken(encoder, encoded)
        # a grid step a coordinate, towards zero; and what the domain itself rounds
        size = np.max(np.abs(domain.center)) + np.max(domain.extent)
        room = 1e-9 * size + 2 * encoder.dimension * np.max(np.abs(encoder.answers)) / FULL
        assert np.max(np.abs(back(encoder, encoded) - records)) <= room


@pytest.mark.grid(3)
@pytest.mark.parametrize("member", WIDE[:12], ids=lambda m: m.name)
def test_nothing_is_encoded_outside(member):
    domain = member.domain
    d = domain.dimension
    rng = np.random.default_rng(8)
    junk = [[ODD[i] for i in rng.integers(0, len(ODD), d)] for _ in range(200)]
    far = rng.normal(size=(500, d)) * 10.0 ** rng.uniform(-300, 300, size=(500, 1))
    for encoder in encoders(domain):
        assert taken(encoder, encoder.encode(junk))
        assert taken(encoder, encoder.encode(far))
        assert taken(encoder, encoder.encode(np.full((1, d), np.nan)))


def test_ranges_beyond_all_squares_encode_every_record_without_a_word():
    """A plan's author may want devices to fail, or to warn, for some records and not for others."""
    ends = {"lower": np.full(2, -1e308), "upper": np.full(2, 1e308), "missing": np.full(2, 1e308)}
    names = ("a", "b")
    small = EllipsoidEncoder(columns=names, center=np.zeros(2), factor=np.full(2, 1e-153), **ends)
    tilted = EllipsoidEncoder(
        columns=names, center=np.zeros(2), factor=1e-153 * np.array([[1.0, 1], [1, -1]]), **ends
    )
    points = np.array([[1.7e308, 0], [-1.7e308, 1], [0, 2.0]])
    listed = NearestEncoder(columns=names, points=points, missing=np.zeros(2))
    rows = [[1.0, 2.0], [None, 2.0], [1e200, -1e200], [1e308, 1e-300], [-1e308, None]]
    for encoder in (small, tilted, listed):
        assert taken(encoder, encoder.encode(rows))


def test_an_array_means_what_its_rows_do():
    mean = ln.Mean(["a", "b"], ln.Box([0, 0], [10, 10]))
    masked = np.ma.masked_array([[9.0, 9.0], [9.0, 1.0]], mask=[[False, True], [False, False]])
    for encoder in encoders_of(mean, 2.0, np.ones(2)):
        assert np.array_equal(encoder.encode(masked), encoder.encode([[9.0, None], [9.0, 1.0]]))
        for own in (np.array([[1j, 3.0]]), np.array([[True, False]])):
            assert np.array_equal(encoder.encode(own), encoder.encode(own.tolist()))
        long = np.array([[np.longdouble("1e4000"), 1.0]])
        assert np.array_equal(encoder.encode(long), encoder.encode([[math.inf, 1.0]]))


def test_one_value_may_be_masked_or_an_array_without_axes():
    """Else a device would refuse a column's masked values, and tell that they are missing."""
    column = np.ma.masked_array([0.25, 0.75], mask=[True, False])
    for encoder in encoders_of(ln.Mean(["a"], ln.Box([0], [1])), 2.0, np.ones(1)):
        found = [encoder.encode([value])[0] for value in (*column, np.array(0.75), None)]
        assert found[0] == found[3]
        assert found[1] == found[2] != found[0]


def test_no_length_is_above_one_by_a_single_step():
    """Rows whose floats have length 1, where rounding goes either way."""
    rng = np.random.default_rng(9)
    points = rng.normal(size=(20_000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    (encoder, _) = encoders(ln.Ball(3))
    encoded = encoder.encode(points * (1 + 1e-15))
    lengths = [sum(y * y for y in row) for row in encoded.tolist()]
    assert max(lengths) <= FULL**2
    assert min(lengths) >= FULL**2 - 8 * FULL  # and they lose a few steps only


def test_what_is_no_number_counts_as_the_stand_in():
    mean = ln.Mean(["a", "b"], ln.Box([0, 0], [10, 10]), missing=[7.0, 2.0])
    for encoder in encoders_of(mean, 2.0, np.ones(2)):
        given = encoder.encode([[None, 3.0], {"b": "3", "a": math.inf}, ("x", 3), [math.nan, 3]])
        assert len(np.unique(given, axis=0)) == 1
        assert np.array_equal(given[:1], encoder.encode([[7.0, 3.0]]))


@pytest.mark.parametrize(
    "record", [[1.0], [1.0, 2.0, 3.0], {"a": 1.0}, {}, [], 5.0, "12", np.ones(3), np.ones((2, 3))]
)
def test_another_shape_is_refused_in_one_line(record):
    for encoder in encoders_of(ln.Mean(["a", "b"], ln.Box([0, 0], [1, 1])), 2.0, np.ones(2)):
        with pytest.raises(TableError, match=r"^record has not the plan's 2 values; give 'a', 'b'"):
            encoder.encode([record])


def test_each_row_is_encoded_as_if_alone():
    member = next(m for m in MEMBERS if m.name == "a few points")
    rows = np.random.default_rng(3).normal(size=(300, 3)) + member.domain.center
    for encoder in encoders(member.domain):
        together = encoder.encode(rows)
        assert np.array_equal(together, np.vstack([encoder.encode(row[None]) for row in rows]))


def test_a_listed_point_is_the_domains_nearest():
    rng = np.random.default_rng(4)
    domain = Points(rng.normal(size=(30, 3)) * [1.0, 100.0, 1e-3])
    rows = rng.normal(size=(500, 3)) * [1.0, 100.0, 1e-3]
    nearest = next(e for e in encoders(domain) if e.makes == "label")
    assert np.array_equal(nearest.encode(rows)[:, 0], domain.nearest(rows))


@pytest.mark.parametrize("member", HELD[:8], ids=lambda m: m.name)
def test_documents_give_the_same_encoder(member):
    rows = np.random.default_rng(5).normal(size=(50, member.domain.dimension)) * 3
    for encoder in encoders(member.domain):
        again = ENCODERS.read(ENCODERS.write(encoder))
        assert np.array_equal(again.encode(rows), encoder.encode(rows))


BOX = {"columns": ["a"], "lower": [0.0], "upper": [1.0], "missing": [0.5]}
ROUND = {**BOX, "center": [0.5], "factor": [0.5]}


@pytest.mark.parametrize(
    ("cls", "fields", "change"),
    [
        (RangeEncoder, BOX, {"lower": [2.0]}),
        (RangeEncoder, BOX, {"lower": [1.0], "missing": [1.0]}),
        (RangeEncoder, BOX, {"columns": []}),
        (RangeEncoder, BOX, {"columns": ["a", "a"]}),
        (RangeEncoder, BOX, {"missing": [9.0]}),
        (RangeEncoder, BOX, {"lower": [-1.7e308], "upper": [1.7e308, 1.0]}),
        (EllipsoidEncoder, ROUND, {"factor": [0.0]}),
        (EllipsoidEncoder, ROUND, {"factor": [1e-300]}),
        (EllipsoidEncoder, ROUND, {"factor": [1e300]}),
        (EllipsoidEncoder, ROUND, {"center": [0.5, 0.5]}),
        (EllipsoidEncoder, ROUND, {"factor": [0.5, 0.5]}),
    ],
)
def test_damaged_documents_are_refused(cls, fields, change):
    kind = "ranges" if cls is RangeEncoder else "ellipsoid"
    document = {"kind": kind, **fields, **change}
    ENCODERS.read({"kind": kind, **fields})
    with pytest.raises(FileError):
        ENCODERS.read(document)


def test_a_list_of_one_point_is_refused():
    with pytest.raises(FileError):
        NearestEncoder(columns=("a",), points=np.ones((1, 1)), missing=np.ones(1))
