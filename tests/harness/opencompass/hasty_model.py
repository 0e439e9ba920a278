"""A model for OpenCompass that answers without reading (run by OpenCompass itself)."""

from opencompass.models.base import BaseModel


class Hasty(BaseModel):
    def __init__(self, path, max_seq_len=2048, **more):
        super().__init__(path=path, max_seq_len=max_seq_len)

    def generate(self, inputs, max_out_len, **more):
        return ["A" if "choice" in str(one) else "at 4" for one in inputs]

    def get_token_len(self, prompt):
        return len(prompt.split())
