"""Which of the statistics that HELM keeps for an instance are scores of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Main metrics of HELM's own leaderboards; runs name others in their metric specs.
_KNOWN = frozenset(
    (
        "exact_match",
        "quasi_exact_match",
        "prefix_exact_match",
        "quasi_prefix_exact_match",
        "exact_match_indicator",
        "final_number_exact_match",
        "quasi_leave_articles_exact_match",
        "f1_score",
        "squad_f1_score",
        "f1_set_match",
        "rouge_1",
        "rouge_2",
        "rouge_l",
        "rougeL",
        "bleu",
        "bleu_1",
        "bleu_4",
        "chr_f_plus_plus",
        "chinese_bleu_1",
        "chinese_rouge_2",
        "math_equiv",
        "math_equiv_chain_of_thought",
        "chain_of_thought_correctness",
        "program_accuracy",
        "execution_accuracy",
        "float_equiv",
        "pass",
        "test_avg",
        "accuracy",
        "calculation_accuracy",
        "ifeval_strict_accuracy",
        "omni_math_accuracy",
        "wildbench_score_rescaled",
        "openai_mrcr_accuracy",
        "ruler_string_match_part",
        "model_judged_score",
        "bbq_accuracy",
        "safety_score",
        "air_score",
        "refusal_rate",
        "RR@10",
        "NDCG@10",
        "cleva_math_result_match",
        "annotation_financebench_label_correct_answer",
    )
)


def declared_names(run_spec: Mapping[str, Any]) -> frozenset[str]:
    """Metrics that a run names in its metric specs."""
    names: set[str] = set()
    specs = run_spec.get("metric_specs")
    for spec in specs if isinstance(specs, list) else []:
        args = spec.get("args") if isinstance(spec, dict) else None
        listed = args.get("names") if isinstance(args, dict) else None
        names.update(name for name in (listed if isinstance(listed, list) else []) if isinstance(name, str))
    return frozenset(names)


def is_score(name: str, declared: frozenset[str]) -> bool:
    """Whether a statistic is a score: known or declared, also as the best of several answers (`exact_match@5`)."""
    bare = name.partition("@")[0]
    return any(one in known for one in (name, bare) for known in (_KNOWN, declared))
