"""How commands end: status, one line on stderr, and nothing but results on stdout."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import benchcore
from benchcore.cli.main import app, execute
from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.root import Registry
from tests.registry.stored import prompt, store

COMMANDS = ("run", "ingest", "embed", "select", "report", "pick", "doctor", "registry list", "registry show")


def failing(error: BaseException) -> typer.Typer:
    """A command line whose only command raises."""
    commands = typer.Typer()

    @commands.command()
    def fail(debug: bool = False) -> None:
        raise error

    return commands


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (BenchcoreError("no luck", where="x.yaml", mend="Try\nagain."), 1, "x.yaml: no luck. Try again."),
        (UsageError("no such thing"), 2, "no such thing"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyError("lost\nand found"), 1, "unexpected KeyError: 'lost\\nand found' (--debug shows the traceback)"),
        (
            ModuleNotFoundError("No module named 'pyspark.sql'", name="pyspark.sql"),
            1,
            "pyspark is not installed. Install it with: pip install 'benchcore[spark]'.",
        ),
        (PermissionError(13, "Permission denied", "/x/y"), 1, "/x/y: Permission denied"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (BenchcoreError("whose?", mend="Say it."), 1, "whose? Say it."),
        (MemoryError(), 1, "unexpected MemoryError: (--debug shows the traceback)"),
    ],
)
def test_an_error_is_one_line(capsys, error: BaseException, status: int, told: str):
    """Whatever it is; its class decides the status."""
    assert execute(failing(error), []) == status

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"benchcore: error: {told}\n"


def test_a_traceback_comes_with_debug_only(capsys):
    """And the line is still the last thing that is said."""
    assert execute(failing(KeyError("lost")), ["--debug"]) == 1

    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "in fail" in said
    assert said.splitlines()[-1] == "benchcore: error: unexpected KeyError: 'lost'"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["runn"], "No such command 'runn'. Did you mean 'run'? See `benchcore --help`."),
        (["run"], "Missing argument 'CONF'. See `benchcore run --help`."),
        (["run", "x.yaml", "--sett", "a=1"], "No such option"),
        (["registry", "lst"], "See `benchcore registry --help`."),
        (["run", "none.yaml"], "none.yaml: cannot be read (No such file or directory). Check the path."),
        (["doctor", "--set", "select.k"], "--set: 'select.k' is not section.key=value"),
        (["doctor", "--set", "selct.k=1"], "unknown key 'selct'. Did you mean 'select'?"),
    ],
)
def test_wrong_usage_is_one_line_and_status_two(capsys, arguments: list[str], told: str):
    """Nothing was started."""
    assert execute(app, arguments) == 2

    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err
    assert said.err.count("\n") == 1


def test_without_a_command_there_is_help(capsys):
    """On stderr, since it is no result of anything."""
    assert execute(app, []) == 2
    assert "Commands:" in capsys.readouterr().err


def test_the_version_is_printed(capsys):
    """For bug reports."""
    assert execute(app, ["--version"]) == 0
    assert capsys.readouterr().out == f"benchcore {benchcore.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_takes_the_common_options(capsys, command: str):
    """`--json`, `--debug` and `--quiet` everywhere; `--root` and `--set` wherever there is a registry."""
    assert execute(app, [*command.split(), "--help"]) == 0

    text = capsys.readouterr().out
    wanted = {"--json", "--debug", "--quiet"} | (set() if command == "pick" else {"--root", "--set"})
    assert all(option in text for option in wanted)


def test_the_short_help_of_no_command_is_cut(capsys):
    """Eighty columns are enough for what each does."""
    execute(app, ["--help"])

    commands = capsys.readouterr().out.partition("Commands:")[2].strip().splitlines()
    assert len(commands) == 15
    assert not [line for line in commands if "..." in line]


WAITING = """
import os, signal, sys, typer
from benchcore.cli.main import execute
commands = typer.Typer()
@commands.command()
def wait() -> None:
    print("waiting", flush=True)
    while True:
        signal.pause()
sys.exit(execute(commands, []))
"""


@pytest.mark.parametrize(
    ("sent", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_signals_end_a_command_at_once_in_one_line(sent: signal.Signals, status: int, word: str):
    """With the status that shells expect, and no traceback."""
    waiting = subprocess.Popen(
        [sys.executable, "-c", WAITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert waiting.stdout.readline() == "waiting\n"
    waiting.send_signal(sent)
    _, err = waiting.communicate(timeout=10)

    assert waiting.returncode == status
    assert err.strip() == f"benchcore: error: {word}"


@pytest.mark.parametrize("arguments", [("run", "--help"), ("registry", "list"), ("registry", "list", "--json")])
def test_a_reader_that_goes_away_is_no_error(arguments: tuple[str, ...], tmp_path: Path):
    """`benchcore registry list | head -1` says nothing on stderr."""
    reading, writing = os.pipe()
    os.close(reading)
    store(Registry.at(tmp_path), "prompts", [prompt("one", 1)])
    root = ("--root", str(tmp_path)) if arguments[0] == "registry" else ()
    with os.fdopen(writing, "w") as closed:
        command = [sys.executable, "-m", "benchcore", *arguments, *root]
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False, timeout=60)

    assert done.stderr == ""


def test_the_module_and_the_script_are_one_command(tmp_path: Path):
    """`python -m benchcore` is for where scripts are not on the path."""
    script = Path(sys.executable).with_name("benchcore")
    said = [subprocess.run([*command, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
            for command in ([str(script)], [sys.executable, "-m", "benchcore"])]  # fmt: skip

    assert said[0] == said[1] == f"benchcore {benchcore.__version__}\n"


@pytest.mark.parametrize("job", ["ingest", "embed", "selection", "report"])
def test_jobs_have_the_same_options_and_errors(job: str, tmp_path: Path):
    """What a cluster schedules is told mistakes in the same way."""
    script = Path(benchcore.__file__).parents[1] / "jobs" / f"{job}.py"
    done = subprocess.run(
        [sys.executable, script, "none.yaml"], capture_output=True, text=True, cwd=tmp_path, check=False
    )

    assert done.returncode == 2
    assert done.stderr == "benchcore: error: none.yaml: cannot be read (No such file or directory). Check the path.\n"


def test_no_job_hides_a_module_of_the_standard_library():
    """A script's folder comes first on the path, in Ray's and Spark's workers too."""
    jobs = Path(benchcore.__file__).parents[1] / "jobs"

    assert not {script.stem for script in jobs.glob("*.py")} & sys.stdlib_module_names


def test_a_shell_is_told_how_a_command_line_goes_on():
    """As the script of `--show-completion` asks for it."""
    words = {"COMP_WORDS": "benchcore leaderboard pre", "COMP_CWORD": "2", "_BENCHCORE_COMPLETE": "complete_bash"}
    ended = subprocess.run(
        [sys.executable, "-m", "benchcore"], env={**os.environ, **words}, capture_output=True, text=True, check=False
    )
    assert ended.stdout.split() == ["predict"]
