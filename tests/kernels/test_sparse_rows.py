"""Products and lengths of sparse rows equal those of dense ones."""

import numpy as np
import pytest
from scipy import sparse

from conformio._kernels import sparse_rows
from conformio._kernels.sparse_rows import products_and_squares, products_and_squares_twin
from conformio.sets import SphericalCap, spherical_cap


@pytest.mark.parametrize("n_centers", [1, 7])
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_kernel_equals_its_twin(n_centers, density):
    rng = np.random.default_rng(0)
    rows = sparse.random_array((7, 11), density=density, format="csr", rng=rng)
    centers = rng.normal(size=(n_centers, 11))
    fast = products_and_squares(rows.indptr, rows.indices, rows.data, centers)
    for one, other in zip(fast, products_and_squares_twin(rows, centers), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 2.0, np.pi])
def test_the_support_of_sparse_rows_takes_it_and_equals_that_of_dense_rows(angle, monkeypatch):
    rng, calls = np.random.default_rng(1), []
    rows = sparse.csr_array(rng.integers(0, 2, (9, 6)).astype(float))

    def counted(*arrays):
        calls.append(len(arrays))
        return sparse_rows.products_and_squares(*arrays)

    monkeypatch.setattr(spherical_cap, "products_and_squares", counted)
    for center in (rng.random(6), rng.random((9, 6)), np.eye(6)[0]):
        cap = SphericalCap(center, angle)
        np.testing.assert_allclose(cap.support(rows), cap.support(rows.toarray()), rtol=1e-14, atol=1e-15)
    assert len(calls) == 3


def test_rows_nearly_parallel_to_the_centre_keep_their_digits():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2, (5, 8)) + 1.0
    cap = SphericalCap(x + 1e-9 * rng.normal(size=x.shape), 1e-10)
    np.testing.assert_allclose(cap.support(sparse.csr_array(x)), cap.support(x), rtol=1e-15)
