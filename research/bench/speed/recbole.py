"""BPR of RecBole, one epoch at a time, where it is installed (pip install recbole)."""

from __future__ import annotations

import importlib
import logging
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from taylorank.data import Interactions

# RecBole 1.2.1 uses names that NumPy 2 no longer has.
OLD_NAMES = {"bool8": np.bool_, "float_": np.float64, "complex_": np.complex128, "unicode_": np.str_}


def bpr_epoch(data: Interactions, *, factors: int, batch_size: int, learning_rate: float) -> Callable[[], Any] | None:
    """Return a function that trains RecBole's BPR for one epoch over all of `data`; None if it is not there."""
    for name, kind in OLD_NAMES.items():
        if name not in np.__dict__:
            setattr(np, name, kind)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _epoch(data, factors, batch_size, learning_rate)
    except ImportError:
        return None


def _epoch(data: Interactions, factors: int, batch_size: int, learning_rate: float) -> Callable[[], Any]:
    config_class = importlib.import_module("recbole.config").Config
    recbole_data = importlib.import_module("recbole.data")
    tools = importlib.import_module("recbole.utils")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "bench" / "bench.inter"
        table.parent.mkdir()
        pairs = zip(data.by_user.row_of_entry().tolist(), data.by_user.indices.tolist(), strict=True)
        table.write_text("user_id:token\titem_id:token\n" + "".join(f"{x}\t{y}\n" for x, y in pairs))
        config = config_class(
            model="BPR",
            dataset="bench",
            config_dict={
                "data_path": folder,
                "checkpoint_dir": folder,
                "train_batch_size": batch_size,
                "embedding_size": factors,
                "learning_rate": learning_rate,
                "load_col": {"inter": ["user_id", "item_id"]},
                "eval_args": {"split": {"LS": "valid_and_test"}, "order": "RO", "group_by": "user", "mode": "full"},
                "show_progress": False,
                "use_gpu": False,
            },
        )
        logging.getLogger().setLevel(logging.WARNING)
        train = recbole_data.data_preparation(config, recbole_data.create_dataset(config))[0]
        model = tools.get_model("BPR")(config, train._dataset)
        trainer = tools.get_trainer(config["MODEL_TYPE"], "BPR")(config, model)

    def epoch() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return trainer._train_epoch(train, 0)

    return epoch
