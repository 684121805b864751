"""What Prometheus reads: latency by route and model, requests by status, the queue, reloads."""

from __future__ import annotations

import os
import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SIZES = (1, 2, 4, 8, 16, 32, 64)
TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one process. With several workers they are summed over the files that each keeps."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.seconds = Histogram(
            "taylorank_request_seconds", "Time from the request to its answer.", ("route", "model"),
            buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.requests = Counter("taylorank_requests", "Answers.", ("route", "status"), registry=self.registry)
        self.in_flight = Gauge(
            "taylorank_in_flight", "Requests that are being answered.", registry=self.registry,
            multiprocess_mode="livesum",
        )  # fmt: skip
        self.queue = Gauge(
            "taylorank_queue_length", "Requests that wait to be ranked.", registry=self.registry,
            multiprocess_mode="livesum",
        )  # fmt: skip
        self.batch = Histogram(
            "taylorank_batch_size", "Requests that are ranked in one pass.", buckets=SIZES, registry=self.registry
        )
        self.reloads = Counter(
            "taylorank_reloads", "Files that were replaced, by what became of it.", ("file", "result"),
            registry=self.registry,
        )  # fmt: skip
        self.loaded = Gauge(
            "taylorank_model_loaded_timestamp_seconds", "When the model that answers was read.", ("model",),
            registry=self.registry, multiprocess_mode="livemax",
        )  # fmt: skip

    def answered(self, route: str, model: str, status: int, began: float) -> None:
        """Count an answer."""
        self.seconds.labels(route, model).observe(time.perf_counter() - began)
        self.requests.labels(route, str(status)).inc()

    def text(self) -> bytes:
        """Return all of them in Prometheus' format."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
