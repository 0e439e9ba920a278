"""A model for lighteval that always takes the shortest choice (run by lighteval itself)."""

from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.utils.cache_management import SampleCache


class Shortest(LightevalModel):
    tokenizer, add_special_tokens, max_length = None, False, 2048

    def __init__(self, config):
        config.cache_dir = "cache"
        self.config, self._cache = config, SampleCache(config)

    def loglikelihood(self, docs):
        return [self._lengths(doc.choices) for doc in docs]

    def _lengths(self, choices):
        return ModelResponse(
            logprobs=[-float(len(choice)) for choice in choices], argmax_logits_eq_gold=[False] * len(choices)
        )

    def greedy_until(self, docs):
        return [ModelResponse(text=[doc.choices[0]]) for doc in docs]

    def loglikelihood_rolling(self, docs):
        return self.loglikelihood(docs)
