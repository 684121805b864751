"""A DATA argument: a file, or the name of a data set."""

import polars as pl
import pytest

from taylorank.data.interactions import Interactions
from taylorank.data.source import open_data
from taylorank.errors import DataError, ParameterError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAYLORANK_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"user": [1, 1, 2], "item": [3, 4, 3], "rating": [5, 1, 4], "timestamp": [1, 2, 3]})
    frame.write_csv(tmp_path / "log.csv")
    frame.write_parquet(tmp_path / "ml-1m.parquet")
    return tmp_path


def test_a_file(folder):
    assert open_data("log.csv").nnz == 3
    assert open_data(folder / "log.csv", min_rating=3, user=None).nnz == 2


def test_a_data_set(folder):
    assert open_data("ml-1m").nnz == 3
    assert open_data("ml-1m", cleaning="raw").steps[-1].action.startswith("data set ml-1m, cleaning raw")


def test_a_file_goes_before_a_data_set_of_that_name(folder):
    (folder / "ml-1m").write_text("user,item\n1,2\n")
    assert open_data("ml-1m").nnz == 1


def test_a_folder_does_not_hide_a_data_set(folder):
    (folder / "ml-1m").mkdir()
    assert open_data("ml-1m").nnz == 3


def test_saved_interactions(folder):
    data = Interactions.from_arrays(["a", "b"], ["x", "x"])
    data.save_npz(folder / "saved.npz")
    assert open_data("saved.npz") == data


def test_a_folder_is_refused(folder):
    with pytest.raises(DataError, match="is a folder; name a file inside it"):
        open_data(folder)


@pytest.mark.parametrize("name", ["missing.csv", "some/where"])
def test_a_missing_file_is_called_so(folder, name):
    with pytest.raises(DataError, match=f"no such file: {name}"):
        open_data(name)


def test_a_misspelt_name_is_answered_with_close_ones(folder):
    with pytest.raises(DataError, match="'ml1m' is neither a file nor a data set; did you mean ml-1m"):
        open_data("ml1m")


def test_options_for_files_do_not_fit_data_sets(folder):
    with pytest.raises(ParameterError, match="min_rating applies to files, and ml-1m is a data set"):
        open_data("ml-1m", min_rating=3)


def test_cleanings_do_not_fit_files(folder):
    with pytest.raises(ParameterError, match=r"cleaning 'paper' applies to data sets, and log\.csv is a file"):
        open_data("log.csv", cleaning="paper")
