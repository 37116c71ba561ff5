"""BERTScore (Zhang et al., 2020): the similarity of two texts by embeddings of a language model.

`scorer`: `BertScore`, which evaluations use, and the cache of scores on disk. `model`: the choice of the
model, and where its files are. `encoder`: torch and `bert-score`, imported late, and the size of batches.
"""

from toolassay.metrics.bertscore.model import BertScoreError
from toolassay.metrics.bertscore.scorer import BertScore

__all__ = ["BertScore", "BertScoreError"]
