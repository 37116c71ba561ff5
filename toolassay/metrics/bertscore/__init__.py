"""BERTScore (Zhang et al., 2020): the similarity of two texts by embeddings of a language model.

`BertScore` is what an evaluation uses (`scorer`, with the scores on disk). `model` is which model, and
where its files are; `encoder` is torch and `bert-score`, imported late, and how much is embedded at once.
"""

from toolassay.metrics.bertscore.model import BertScoreError
from toolassay.metrics.bertscore.scorer import BertScore

__all__ = ["BertScore", "BertScoreError"]
