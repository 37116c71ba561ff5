"""BERTScore (Zhang et al., 2020): how alike two texts are in the eyes of a language model.

`BertScore` is what an evaluation asks. The parts: `model` (which one, and where its files are), `encoder`
(torch and `bert-score`, imported late), `blocks` (in which order, and how much at once), `cache` (scores on
disk).
"""

from toolassay.metrics.bertscore.model import BertScoreError
from toolassay.metrics.bertscore.scorer import BertScore

__all__ = ["BertScore", "BertScoreError"]
