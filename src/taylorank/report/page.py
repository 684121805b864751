"""One HTML file that needs nothing else: tables, charts and the scripts that draw them."""

from __future__ import annotations

import importlib
import json
import os
from importlib import resources
from typing import Any

from taylorank.errors import MissingExtraError
from taylorank.output import atomic_path
from taylorank.report import charts, facts, tables
from taylorank.report.glossary import glossary
from taylorank.report.numbers import metric_label
from taylorank.report.record import Record, check_record
from taylorank.report.series import series_of
from taylorank.report.words import further_sentences, lead_sentence, mark_words


def write_report(record: Record, path: str | os.PathLike[str]) -> None:
    """Write the report of a comparison (`Comparison.record`, or what `load_record` returns) to `path`, atomically."""
    page = render_report(record)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def render_report(record: Record) -> str:
    """Return the HTML of a comparison."""
    check_record(record)
    require_extra()
    template, bundle = _template(), _scripts()
    series = series_of(record)
    drawn = {name: spec for name, spec in _charts(record, series).items() if spec is not None}
    page: str = template.render(
        record=record,
        title=f"Comparison on {record['data'].get('name') or 'one data set'}",
        lead=lead_sentence(record),
        further=further_sentences(record),
        series=series,
        drawn=drawn,
        shown={name: charts.models_in(spec) for name, spec in drawn.items()},
        primary=metric_label(record["settings"]["primary"]),
        tables=_tables(record, series),
        mark_words=mark_words(record),
        trials=[table for name in record["models"] if (table := tables.trials_table(record, name)).rows],
        data_facts=facts.data_facts(record),
        fit_means=record["budget"].get("fit_means", "seconds to fit once with the chosen parameters"),
        steps=facts.cleaning_steps(record),
        method_facts=facts.method_facts(record),
        machine_facts=facts.machine_facts(record),
        advice=facts.advice(record),
        glossary=glossary(record),
        specs=_embedded(drawn),
        bundle=bundle.replace("</script", "<\\/script"),
        style=_text("style.css"),
        script=_text("draw.js"),
    )
    return page.lstrip()


def _charts(record: Record, series: list[Any]) -> dict[str, Any]:
    return {
        "forest": charts.forest(record, series),
        "trade-off": charts.trade_off(record, series),
        "convergence-seconds": charts.convergence(record, series, against="seconds"),
        "convergence-steps": charts.convergence(record, series, against="step"),
        "by-cutoff": charts.by_cutoff(record, series),
        "by-popularity": charts.by_popularity(record, series),
        "tuning": charts.tuning(record, series),
    }


def _tables(record: Record, series: list[Any]) -> dict[str, tables.Table]:
    return {
        "summary": tables.summary_table(record, series),
        "significance": tables.significance_table(record),
        "cutoff": tables.cutoff_table(record),
        "popularity": tables.popularity_table(record),
        "convergence": tables.convergence_table(record),
        "parameters": tables.parameters_table(record),
        "runs": tables.runs_table(record),
    }


def require_extra() -> None:
    """Refuse if a package that the report needs is missing; call it before long work."""
    for name in ("jinja2", "altair", "vl_convert"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise MissingExtraError(
                f"the report needs {name}, which is not installed", "pip install 'taylorank[report]'"
            ) from error


def _template() -> Any:
    jinja2 = importlib.import_module("jinja2")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(_text("page.html.jinja"))


def _scripts() -> str:
    """Vega, Vega-Lite and vega-embed as one script, of the version that altair writes for."""
    altair, vl_convert = (importlib.import_module(name) for name in ("altair", "vl_convert"))
    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    script: str = vl_convert.javascript_bundle(vl_version=version)
    return script


def _embedded(specs: dict[str, Any]) -> str:
    """The specifications as JSON that is safe inside a script element."""
    return json.dumps(specs, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", " ").replace("\u2029", " ")


def _text(name: str) -> str:
    return resources.files("taylorank.report").joinpath(name).read_text(encoding="utf-8")
