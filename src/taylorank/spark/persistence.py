"""Models on disk: the parameters as pyspark.ml keeps them, and the model's files beside them."""

from __future__ import annotations

from typing import Any

from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter

from taylorank.errors import DataError
from taylorank.spark.files import FACTS, ModelFiles
from taylorank.spark.folder import Folder
from taylorank.spark.session import active_session

DATA = "data"


class ModelWriter(MLWriter):
    """Writes a model to a path that Spark and Arrow both reach."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def _handleOverwrite(self, path: str) -> None:
        """Remove what is there; Spark's own way goes through Java, which Spark Connect has not."""
        folder, own = Folder(path), self.model.files.folder.address
        if own.rsplit("/", 1)[0].rstrip("/") == path.rstrip("/"):
            raise DataError(f"{path} is where this model is read from", "save it to another path")
        folder.remove()

    def saveImpl(self, path: str) -> None:
        """Write the model."""
        folder = Folder(path)
        if folder.has("metadata"):
            raise DataError(f"{path} is there already", "write().overwrite().save(path)")
        session = active_session()
        folder.make()
        DefaultParamsWriter.saveMetadata(self.model, folder.address_of("").rstrip("/"), session)
        self.model.files.copy_to(session, folder.at(DATA))


class ModelReader(MLReader):
    """Reads what `ModelWriter` wrote."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        """Return the model at `path`, whose files it goes on to read."""
        folder = Folder(path)
        if not folder.at(DATA).has(FACTS):
            raise DataError(f"{path} holds no model", "give a path that model.save wrote")
        metadata = DefaultParamsReader.loadMetadata(folder.address_of("").rstrip("/"), active_session())
        if metadata["class"].rsplit(".", 1)[-1] != self.kind.__name__:
            raise DataError(f"{path} holds a {metadata['class'].rsplit('.', 1)[-1]}", "load it with that class")
        model = self.kind(ModelFiles(folder.at(DATA)))
        DefaultParamsReader.getAndSetParams(model, metadata)
        model._resetUid(metadata["uid"])
        return model
