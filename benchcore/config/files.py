"""Reading configuration files: what the command line sets, one line for each mistake, paths made absolute."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from benchcore.config.sections import Config
from benchcore.config.sources import SourceSpec
from benchcore.errors import UsageError
from benchcore.masking import MASK, names_a_secret


def load_config(path: str | Path | None, overrides: Iterable[str] = (), root: str | None = None) -> Config:
    """Read and validate a configuration.

    Args:
        path: YAML file; None gives the defaults.
        overrides: `section.key=value` with a YAML value; they win over everything.
        root: registry root, wins over the file's.

    Raises:
        UsageError: the file cannot be read, or a key or value is wrong; names the nearest right key.
    """
    tree = _read_yaml(Path(path)) if path is not None else {}
    where = str(path) if path is not None else "configuration"
    if root is not None:
        tree["registry"] = {**(tree.get("registry") or {}), "root": root}
    for override in overrides:
        _set(tree, override)
    config = _validate(Config, tree, where)
    return _resolve(config, Path(path).resolve().parent if path is not None else Path.cwd(), root, overrides)


def load_sources(config: Config) -> list[SourceSpec]:
    """Read the source files that a configuration includes, sorted by name.

    Raises:
        UsageError: a pattern matches nothing, a file is wrong, or two sources share a name.
    """
    specs: dict[str, SourceSpec] = {}
    for pattern in config.sources.include:
        absolute = Path(pattern)
        files = sorted(absolute.parent.glob(absolute.name)) if absolute.parent.is_dir() else []
        if not files:
            raise UsageError("no source file matches", where=pattern, mend="Mend sources.include.")
        for file in files:
            spec = _validate(SourceSpec, {"name": file.stem, **_read_yaml(file)}, str(file))
            if spec.name in specs:
                raise UsageError(f"two sources are named '{spec.name}'", where=str(file), mend="Give one another name.")
            specs[spec.name] = spec
    return [specs[name] for name in sorted(specs)]


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"cannot be read ({reason})", where=str(path), mend="Check the path.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"{path}:{mark.line + 1}" if mark else str(path)
        raise UsageError(f"is not valid YAML ({getattr(error, 'problem', error)})", where=line) from None
    except (ValueError, RecursionError) as error:  # a date or a number that cannot be, or nesting without end
        raise UsageError(f"is not valid YAML ({error})", where=str(path)) from None
    if not isinstance(tree, dict):
        raise UsageError("holds no sections", where=str(path), mend="It must be a YAML mapping; see conf/demo.yaml.")
    return tree


def _set(tree: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"'{override}' is not section.key=value", where="--set")
    *sections, leaf = key.strip().split(".")
    for section in sections:
        inner = tree.get(section)
        tree[section] = inner = dict(inner) if isinstance(inner, Mapping) else {}
        tree = inner
    if value.lstrip().startswith("{{"):  # a template; YAML would take its braces for mappings
        tree[leaf] = value
        return
    try:
        tree[leaf] = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, RecursionError):
        shown = MASK if names_a_secret(key) else value
        raise UsageError(f"'{shown}' is not a YAML value", where=f"--set {key}") from None


def _validate(model: type[Any], tree: Mapping[str, Any], where: str) -> Any:
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        faults = error.errors()
        # A misspelt key also leaves the right one missing: name the misspelling first.
        first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
        location = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise UsageError(f"unknown key '{location}'", where=where, mend=_nearest(model, first["loc"])) from None
        if first["type"] == "missing":
            raise UsageError(f"the key '{location}' is missing", where=where) from None
        message = first["msg"].removeprefix("Value error, ")
        given = first.get("input")
        told = isinstance(given, str | int | float | bool) and not names_a_secret(location)
        shown = f" (given: {given!r})" if told else ""
        raise UsageError(f"{location or 'the file'}: {message}{shown}", where=where) from None


def _nearest(model: type[Any], location: tuple[Any, ...]) -> str:
    for part in location[:-1]:
        field = model.model_fields.get(str(part))
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return ""
        model = inner
    near = difflib.get_close_matches(str(location[-1]), model.model_fields, n=1, cutoff=0.5)
    return f"Did you mean '{near[0]}'?" if near else f"Known keys: {', '.join(model.model_fields)}."


def _resolve(config: Config, base: Path, root: str | None, overrides: Iterable[str]) -> Config:
    """Make paths absolute: those of the file against its folder, those of the command line against the current one."""
    given = {override.partition("=")[0].strip() for override in overrides}

    def absolute(location: str, key: str) -> str:
        expanded = _expand(location, key)
        if "://" in expanded or Path(expanded).is_absolute():
            return expanded
        from_command_line = key in given or (key == "registry.root" and root is not None)
        return str(((Path.cwd() if from_command_line else base) / expanded).resolve())

    include = tuple(absolute(pattern, "sources.include") for pattern in config.sources.include)
    encoder = config.embed.encoder
    vectors = absolute(encoder.vectors, "embed.encoder.vectors") if encoder.vectors else None
    page = absolute(config.report.path, "report.path") if config.report.path else None
    metrics = absolute(config.metrics.file, "metrics.file") if config.metrics.file else None
    return config.model_copy(
        update={
            "registry": config.registry.model_copy(update={"root": absolute(config.registry.root, "registry.root")}),
            "sources": config.sources.model_copy(
                update={"include": include, "data": absolute(config.sources.data, "sources.data")}
            ),
            "embed": config.embed.model_copy(update={"encoder": encoder.model_copy(update={"vectors": vectors})}),
            "report": config.report.model_copy(update={"path": page}),
            "metrics": config.metrics.model_copy(update={"file": metrics}),
        }
    )


def _expand(location: str, key: str) -> str:
    if "\0" in location:
        raise UsageError("a path cannot hold a null character", where=key)
    return re.sub(r"\$\{(\w+)\}", lambda match: environment_value(match.group(1), f"{key}: {location}"), location)


def environment_value(name: str, where: str) -> str:
    """The value of a variable of the environment, for an address or a path.

    Raises:
        UsageError: it is not set; or it is called as secrets are, and an address would carry it out.
    """
    if names_a_secret(name):
        mend = "Stores take their keys from the environment by themselves."
        raise UsageError(f"the environment variable {name} is a secret by its name, no part of a path", where, mend)
    if name not in os.environ:
        raise UsageError(f"the environment variable {name} is not set", where=where)
    return os.environ[name]
