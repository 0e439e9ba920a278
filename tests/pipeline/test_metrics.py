"""What a run tells its operators: a file that the textfile collector reads, or a gateway."""

from __future__ import annotations

import http.server
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from prometheus_client.parser import text_string_to_metric_families

from benchcore.config import Config, MetricsSection
from benchcore.errors import BenchcoreError
from benchcore.pipeline import steps
from benchcore.pipeline.metric_targets import Sample, tell
from benchcore.pipeline.metrics import measured_upkeep, tell_findings
from benchcore.pipeline.steps import Job, run
from benchcore.registry.checks.finding import Finding
from tests.registry.stored import prompt, store_coreset

ROWS = {"rows_read": 10, "rows_kept": 7, "rows_duplicate": 1, "rows_quarantined": 2, "files": 3}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    tree = {
        "registry": {"root": str(tmp_path / "registry")},
        "metrics": {"file": str(tmp_path / "m" / "benchcore.prom")},
    }
    return Config.model_validate(tree)


@pytest.fixture
def step(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a function in a step's place."""
    return lambda name, function: monkeypatch.setitem(steps._STEP_FUNCTIONS, name, function)


def counts(**found: int) -> Callable[[Job], object]:
    return lambda job: (True, found, ())


def selects(job: Job) -> object:
    store_coreset(job.registry, "abc", [prompt("one", 1), prompt("one", 2)])
    job.coreset_id = "abc"
    return True, {"picks": 2}, ()


def fails(job: Job) -> object:
    raise BenchcoreError("no luck")


def told(config: Config) -> dict[tuple[str, ...], float]:
    """Name and all labels but the registry -> value."""
    found = {}
    for family in text_string_to_metric_families(Path(str(config.metrics.file)).read_text()):
        for sample in family.samples:
            assert sample.labels["registry"] == config.registry.root
            rest = sorted(value for label, value in sample.labels.items() if label not in ("registry", "step"))
            found[sample.name.removeprefix("benchcore_"), sample.labels["step"], *rest] = sample.value
    return found


def test_a_run_tells_what_its_steps_counted(config: Config, step):
    """Rows by state, the share in quarantine, vectors by origin, and how good the picks are."""
    step("ingest", counts(**ROWS))
    step("embed", counts(encoded=3, cached=4))
    step("select", selects)
    run(config, steps=("ingest", "embed", "select"))

    found = told(config)
    assert {key[2]: value for key, value in found.items() if key[0] == "rows"} == {
        "read": 10,
        "kept": 7,
        "duplicate": 1,
        "quarantined": 2,
    }
    assert found["quarantine_ratio", "ingest"] == pytest.approx(0.2)
    assert (found["vectors", "embed", "computed"], found["vectors", "embed", "reused"]) == (3, 4)
    assert [found[name, "select"] for name in ("picks", "coverage_ratio", "certificate_ratio")] == [2, 0.75, 0.8]
    for name in ("ingest", "embed", "select"):
        assert found["step_success", name] == 1
        assert found["last_success_timestamp_seconds", name] == found["last_run_timestamp_seconds", name] > 1e9
        assert found["step_duration_seconds", name] >= 0


def test_a_step_that_fails_keeps_what_it_told_before(config: Config, step):
    """Above all when it last ended well; the steps before it ended well this time too."""
    step("ingest", counts(**ROWS))
    step("embed", counts(encoded=3, cached=4))
    run(config, steps=("ingest", "embed"))
    before = told(config)
    step("embed", fails)
    with pytest.raises(BenchcoreError):
        run(config, steps=("ingest", "embed"))

    found = told(config)
    assert (found["step_success", "ingest"], found["step_success", "embed"]) == (1, 0)
    name = "last_success_timestamp_seconds"
    assert found[name, "embed"] == before[name, "embed"] < found["last_run_timestamp_seconds", "embed"]
    assert found[name, "ingest"] > before[name, "ingest"]
    assert found["vectors", "embed", "computed"] == 3


def test_a_run_that_does_not_get_as_far_as_its_first_step_has_failed(config: Config, step, tmp_path: Path):
    """As where the root cannot be written."""
    (tmp_path / "registry").write_text("a file")
    with pytest.raises(BenchcoreError):
        run(config, steps=("ingest", "embed"))

    assert told(config)["step_success", "ingest"] == 0


def test_what_a_step_does_not_tell_any_more_is_dropped(config: Config):
    """A coreset of another method has no certificate; what others told stays."""
    for step_, samples in (
        ("select", [Sample("picks", 5.0), Sample("certificate_ratio", 0.9)]),
        ("embed", [Sample("vectors", 3.0, {"origin": "reused"})]),
        ("select", [Sample("picks", 6.0)]),
    ):
        tell(config.metrics, config.registry.root, step_, samples)

    assert told(config) == {("picks", "select"): 6, ("vectors", "embed", "reused"): 3}


def test_a_check_tells_how_much_is_broken(config: Config):
    """For an alert."""
    findings = [Finding("keys", "broken", "prompts", "rows", 7), Finding("stale", "notice", "coresets", "picks", 1)]
    tell_findings(config.metrics, config.registry.root, findings, 1.5)

    found = told(config)
    assert (found["findings", "check", "broken"], found["findings", "check", "notice"]) == (1, 1)


def test_maintenance_tells_how_it_ended(config: Config):
    """For an alert on a vacuum that nobody watches."""
    with measured_upkeep(config.metrics, config.registry.root, "vacuum"):
        pass
    before = told(config)
    with pytest.raises(OSError, match="gone"), measured_upkeep(config.metrics, config.registry.root, "vacuum"):
        raise OSError("gone")
    found = told(config)

    success = ("last_success_timestamp_seconds", "vacuum")
    assert (before["step_success", "vacuum"], found["step_success", "vacuum"]) == (1, 0)
    assert found[success] == before[success]


def test_a_file_that_cannot_be_written_fails_no_run(config: Config, caplog: pytest.LogCaptureFixture, tmp_path: Path):
    """Nor is one of something else overwritten."""
    (tmp_path / "m").mkdir()
    file = tmp_path / "m" / "benchcore.prom"
    file.write_text("this is { no metric\n")
    with caplog.at_level(logging.WARNING):
        tell(config.metrics, config.registry.root, "select", [Sample("picks", 5.0)])

    assert "metrics cannot be told" in caplog.text
    assert file.read_text() == "this is { no metric\n"


class Gateway(http.server.BaseHTTPRequestHandler):
    """Takes what is pushed, as a Pushgateway does."""

    pushed: ClassVar[list[tuple[str, str, str]]] = []

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.pushed.append((self.command, self.path, body))
        self.send_response(200)
        self.end_headers()

    do_POST = do_PUT

    def log_message(self, *arguments: object) -> None:
        """Keep quiet."""


@pytest.fixture
def gateway() -> Iterator[str]:
    Gateway.pushed.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_gateway_has_a_group_for_each_step(gateway: str):
    """A step that ends well takes the place of its group, one that fails adds to it."""
    section = MetricsSection(gateway=gateway)
    tell(section, "s3://bucket/evals", "select", [Sample("picks", 5.0)])
    tell(section, "s3://bucket/evals", "select", [Sample("step_success", 0.0)], failed=True)

    assert [command for command, _, _ in Gateway.pushed] == ["PUT", "POST"]
    assert all("/metrics/job/benchcore/" in path and "/step/select" in path for _, path, _ in Gateway.pushed)
    assert 'benchcore_picks{registry="s3://bucket/evals",step="select"} 5.0' in Gateway.pushed[0][2]


def test_a_gateway_that_is_gone_fails_no_run(caplog: pytest.LogCaptureFixture):
    """A warning says so."""
    with caplog.at_level(logging.WARNING):
        tell(MetricsSection(gateway="http://127.0.0.1:9"), "/registry", "select", [Sample("picks", 5.0)])

    assert "metrics cannot be told to http://127.0.0.1:9" in caplog.text


@pytest.mark.parametrize("file", ["metrics.txt", "s3://bucket/metrics.prom"])
def test_a_file_that_nobody_would_collect_is_refused(file: str):
    """The collector reads local files that end in .prom."""
    with pytest.raises(ValueError, match=r"local files that end in \.prom"):
        MetricsSection(file=file)


def test_a_file_that_is_configured_lies_beside_the_configuration(tmp_path: Path):
    """As all paths in one do."""
    from benchcore.config import load_config

    (tmp_path / "conf.yaml").write_text("metrics: {file: benchcore.prom}\n")

    assert load_config(tmp_path / "conf.yaml").metrics.file == str(tmp_path / "benchcore.prom")
