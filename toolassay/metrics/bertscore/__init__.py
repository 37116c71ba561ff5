"""BERTScore (Zhang et al., 2020): the similarity of two texts by embeddings of a language model.

An evaluation uses `BertScore` of `scorer`, which caches scores on disk. `model` selects the model and finds
its files. `encoder` runs torch and `bert-score`, imported late, in bounded memory.
"""

from toolassay.metrics.bertscore.model import BertScoreError
from toolassay.metrics.bertscore.scorer import BertScore

__all__ = ["BertScore", "BertScoreError"]
