"""What is asked of a Spark session: how many tasks run at a time, where files can lie, functions over Arrow."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from taylorank.errors import DataError, MissingExtraError, ParameterError
from taylorank.spark.folder import Folder, temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[Any]  # of pyarrow.RecordBatch
HERE = ("", "localhost", "127.0.0.1", "::1")
RANGE = 1 << 16  # numbers, more than any cluster has cores
UNLIMITED = (1 << 31) - 1  # executors


def require_pyspark() -> None:
    """Raise an error that says what to install if pyspark is missing."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtraError("pyspark is not installed", "pip install 'taylorank[spark]'") from None


def session_of(data: DataFrame) -> SparkSession:
    """Return the session of a DataFrame; refuse what is none, such as a table of pandas."""
    session: SparkSession | None = getattr(data, "sparkSession", None)
    if session is None:
        raise DataError(
            f"{type(data).__module__}.{type(data).__name__} is no DataFrame of Spark",
            "make one: spark.createDataFrame(data)",
        )
    return session


def active_session() -> SparkSession:
    """Return the session of this process."""
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    return SparkSession.builder.getOrCreate() if found is None else found


def connect_host(session: SparkSession) -> str:
    """Return the machine that a client of Spark Connect talks to; "" for any other session."""
    return session.client.host if "connect" in type(session).__module__ else ""


def setting(session: SparkSession, name: str, default: str) -> str:
    """Return a setting of the session, of the cluster if need be."""
    try:
        found = session.conf.get(name, default)
    except Exception:  # some are not shown to clients
        found = default
    return default if found is None else found


def slots(session: SparkSession) -> int:
    """Return how many tasks run at a time: now, or at most where Spark adds executors when there is work.

    A client of Spark Connect cannot ask for it; there it is the number of partitions that a range has by default.
    """
    from pyspark.sql import functions as F

    cores = int(setting(session, "spark.task.cpus", "1"))
    context = getattr(session, "_sc", None)
    if context is None:
        ranges: int = session.range(RANGE).select(F.spark_partition_id().alias("number")).distinct().count()
        return max(1, ranges // cores)
    now = _slots_now(context, cores)
    if setting(session, "spark.dynamicAllocation.enabled", "false") != "true":
        return max(1, now)
    most = int(setting(session, "spark.dynamicAllocation.maxExecutors", str(UNLIMITED)))
    if most >= UNLIMITED:
        return max(1, now, int(context.defaultParallelism) // cores)
    each = int(setting(session, "spark.executor.cores", "1")) // cores
    return max(1, now, most * each)


def _slots_now(context: Any, cores: int) -> int:
    try:
        java = context._jsc.sc()
        return int(java.maxNumConcurrentTasks(java.resourceProfileManager().defaultResourceProfile()))
    except Exception:  # platforms that let Python call little of Java
        return int(context.defaultParallelism) // cores


def task_threads() -> int:
    """Return how many threads the kernels of this task may use: the cores that Spark has given to it."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 1 if context is None else max(1, context.cpus())


def task_number() -> int:
    """Return the number of the partition that this task computes."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def map_arrow(data: DataFrame, function: Callable[[Batches], Batches], schema: Any) -> DataFrame:
    """Return `function` of the batches of every partition; no batch goes through pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        return data.mapInArrow(partial(_in_task, function), schema)


def _in_task(function: Callable[[Batches], Batches], batches: Batches) -> Batches:
    _settle()
    return function(batches)


@lru_cache(maxsize=1)
def _settle() -> None:
    """Take what a worker has loaded out of the search for garbage, which Spark starts after each task: tens of ms."""
    gc.collect()
    gc.freeze()


def to_arrow(data: DataFrame) -> Any:
    """Return a DataFrame as a table of Arrow on the driver."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        return data.toArrow()


def numbered(session: SparkSession, count: int) -> DataFrame:
    """Return the numbers 0 … count − 1 in a column `number`, one in each of `count` partitions."""
    return session.range(0, count, 1, count).withColumnRenamed("id", "number")


def by_number(data: DataFrame, column: str, count: int) -> DataFrame:
    """Return the data with rows of the same number in one of `count` partitions."""
    place = getattr(data, "repartitionById", None)  # since Spark 4.1; a hash may put two numbers into one partition
    return data.repartition(count, column) if place is None else place(count, column)


def work_folder(session: SparkSession, named: str) -> tuple[Folder, bool]:
    """Return the folder for files of a fit, and whether it is a temporary one.

    `named` is what the user chose. Without it: a folder of this machine in local mode, else one in TAYLORANK_SPARK_DIR
    or of the file system that Hadoop has for default.
    """
    if named:
        return Folder(named), False
    if (host := connect_host(session)) not in HERE:
        raise ParameterError(
            f"Spark Connect has this client on one machine and the driver on {host}",
            'set workDir to a folder that both and all executors reach, such as "/mnt/shared" or "s3://bucket/work"',
        )
    master = setting(session, "spark.master", "")
    if master.startswith("local") or master.startswith("spark://localhost"):
        return temporary_folder(), True
    default = os.environ.get("TAYLORANK_SPARK_DIR", "") or _file_system(session)
    if not default or default.startswith("file:"):
        raise ParameterError(
            "the executors of this cluster share no file system that is known here",
            "set workDir, or TAYLORANK_SPARK_DIR for all fits, to a folder that all machines reach, such as "
            '"/mnt/shared" or "s3://bucket/work"',
        )
    return Folder(default).at(f"tmp/taylorank-{os.getpid()}-{os.urandom(6).hex()}"), True


def _file_system(session: SparkSession) -> str:
    """Return Hadoop's default file system as Spark's settings or Hadoop's own files have it; "" if they cannot tell."""
    found = setting(session, "spark.hadoop.fs.defaultFS", "")
    context = getattr(session, "_sc", None)
    return found if found or context is None else str(context._jsc.hadoopConfiguration().get("fs.defaultFS") or "")
