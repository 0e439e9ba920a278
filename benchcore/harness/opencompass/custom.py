"""The picks as custom data sets of OpenCompass: one for each number of choices, and one for free answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from benchcore.harness.picks import Exported, Pick
from benchcore.whole_file import write_file


class _CannotRun(ValueError):
    """A pick cannot be asked this way; the message says why."""


def export(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """Write a JSONL and its `.meta.json` a kind of question; each row carries the prompt's id."""
    rows: dict[int, list[dict[str, Any]]] = {}
    left_out = []
    for pick in picks:
        try:
            choices = pick.choices if len(pick.choices) > 1 else ()  # one is no choice
            row = _row(pick, choices)
        except _CannotRun as error:
            left_out.append((pick, str(error)))
        else:
            rows.setdefault(len(choices), []).append(row)
    files: list[Path] = []
    commands = []
    for count, kept in sorted(rows.items()):
        kind = "mcq" if count else "qa"
        name = f"benchcore-{coreset_id[:12]}-{kind}{count or ''}"
        data = folder / f"{name}.jsonl"
        write_file(data, "".join(f"{json.dumps(row)}\n" for row in kept).encode())
        write_file(folder / f"{data.name}.meta.json", (json.dumps(_meta(name, count), indent=1) + "\n").encode())
        files += [data, folder / f"{data.name}.meta.json"]
        commands.append(
            f'opencompass --models MODEL --custom-dataset-path "$PWD/{data.name}" --custom-dataset-data-type {kind} '
            f"--custom-dataset-infer-method gen --work-dir outputs"
        )
    return Exported(
        files=tuple(files),
        command="\n".join(commands),
        remarks=(
            "Replace MODEL by the name of a model's configuration, or give --hf-path.",
            "Prompts are the registry's, not those of OpenCompass's own data sets: compare models among themselves.",
            "Free answers are right where they equal the reference to the letter; choices are told by their letter.",
            "Keep outputs in this folder: `import` takes the prompts' ids from the data set above them.",
        ),
        left_out=tuple(left_out),
    )


def _row(pick: Pick, choices: tuple[str, ...]) -> dict[str, Any]:
    letters = ascii_uppercase[: len(choices)]
    if len(choices) > len(ascii_uppercase):
        raise _CannotRun(f"OpenCompass cannot ask for one of {len(choices)} choices")
    if pick.answer is None:
        raise _CannotRun("it has no answer to score against")
    texts = (pick.prompt, *choices)
    if found := [name for name in ("question", "answer", *letters) for text in texts if f"{{{name}}}" in text]:
        raise _CannotRun(f"OpenCompass would fill in '{{{found[0]}}}' in its text")
    carried = {"prompt_id": pick.prompt_id, "content_hash": pick.content_hash}
    options = dict(zip(letters, choices, strict=True))
    return {"question": pick.prompt, **options, "answer": _answer(pick.answer, choices, letters), **carried}


def _answer(answer: str, choices: tuple[str, ...], letters: str) -> str:
    if not choices:
        return answer
    if answer in choices:
        return letters[choices.index(answer)]
    if len(answer.strip()) == 1 and answer.strip() in letters:
        return answer.strip()
    raise _CannotRun("its answer is none of its choices")


def _meta(name: str, choices: int) -> dict[str, Any]:
    """What OpenCompass need not guess; nothing of it comes from outside but the number of choices."""
    letters = list(ascii_uppercase[:choices])
    lines = "".join(f"\n{letter}. {{{letter}}}" for letter in letters)
    closing = "\nAnswer with the letter of the right choice." if choices else ""
    return {
        "abbr": name,
        "data_type": "mcq" if choices else "qa",
        "infer_method": "gen",
        "input_columns": ["question", *letters],
        "output_column": "answer",
        "options": letters,
        "human_prompt": f"{{question}}{lines}{closing}",
    }
