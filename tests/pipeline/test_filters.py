"""The filter: what it keeps, and how it says that it keeps nothing."""

import numpy as np
import pyarrow as pa
import pytest

from benchcore.config import FilterSection
from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline.filters import keep
from benchcore.registry.schemas import SCHEMAS

ROWS = [
    {"benchmark": "xcopa", "category": "multilingual", "language": "et", "tags": ["hard"], "n_characters": 10},
    {"benchmark": "xcopa", "category": "multilingual", "language": "en", "tags": [], "n_characters": 20},
    {"benchmark": "gsm8k", "category": "math", "language": "en", "tags": ["canary", "hard"], "n_characters": 30},
    {"benchmark": "gsm8k", "category": "math", "language": None, "tags": None, "n_characters": 40},
]
LICENCES = pa.array(["MIT", "MIT", "CC-BY-4.0", None])


def kept(**wanted: object) -> list[int]:
    prompts = pa.Table.from_pylist(ROWS, pa.schema([SCHEMAS["prompts"].field(name) for name in ROWS[0]]))
    return np.flatnonzero(keep(prompts, LICENCES, FilterSection.model_validate(wanted))).tolist()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, [0, 1, 2, 3]),
        ({"languages": ["en"]}, [1, 2]),
        ({"languages": ["en", "et"]}, [0, 1, 2]),
        ({"exclude_languages": ["en"]}, [0, 3]),
        ({"licences": ["MIT"]}, [0, 1]),
        ({"benchmarks": ["gsm8k"]}, [2, 3]),
        ({"exclude_benchmarks": ["gsm8k"]}, [0, 1]),
        ({"categories": ["math"]}, [2, 3]),
        ({"exclude_categories": ["math"]}, [0, 1]),
        ({"tags": ["hard"]}, [0, 2]),
        ({"exclude_tags": ["canary"]}, [0, 1, 3]),
        ({"exclude_tags": ["never seen"]}, [0, 1, 2, 3]),
        ({"min_characters": 20, "max_characters": 30}, [1, 2]),
        ({"languages": ["en"], "exclude_tags": ["canary"]}, [1]),
    ],
)
def test_a_part_keeps_what_it_says(wanted: dict, expected: list[int]):
    """Parts are combined; a prompt without language, licence or tags passes exclusions only."""
    assert kept(**wanted) == expected


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"benchmarks": ["gsm9k"]}, "no benchmark 'gsm9k' in the registry. Did you mean 'gsm8k'?"),
        ({"exclude_benchmarks": ["xkopa"]}, "no benchmark 'xkopa' in the registry. Did you mean 'xcopa'?"),
        ({"categories": ["zzz"]}, "no category 'zzz' in the registry. There are multilingual, math."),
    ],
)
def test_a_name_that_there_is_not_is_a_mistake(wanted: dict, told: str):
    """An exclusion that excludes nothing would be a silent one."""
    with pytest.raises(UsageError) as caught:
        kept(**wanted)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "part", "told"),
    [
        ({"languages": ["xx"]}, "languages", "no prompt of 4. Widen it; there is en, et."),
        ({"licences": ["GPL"]}, "licences", "no prompt of 4. Widen it; there is MIT, CC-BY-4.0."),
        ({"tags": ["soft"]}, "tags", "there is hard, canary."),
        ({"languages": ["et"], "min_characters": 11}, "min_characters", "no prompt of 1. Widen it."),
        ({"benchmarks": ["gsm8k"], "exclude_categories": ["math"]}, "exclude_categories", "no prompt of 2."),
    ],
)
def test_a_filter_that_keeps_nothing_says_which_part_and_what_there_would_be(wanted: dict, part: str, told: str):
    """Rather than an empty coreset, or a puzzle about k."""
    with pytest.raises(BenchcoreError) as caught:
        kept(**wanted)
    assert str(caught.value).startswith(f"select.filter.{part}: the filter leaves ")
    assert told in str(caught.value)
