"""BERTScore (Zhang et al., 2020): the similarity of two texts by embeddings of a language model.

An evaluation uses `BertScore` of `scorer`, which caches scores on disk, or `ReferenceBertScore`, which calls
`bert_score.BERTScorer`. `model` selects the model and finds
its files. `encoder` runs torch and `bert-score`, imported late, in bounded memory.
"""

from typing import TYPE_CHECKING, Any

from toolassay.extras import exported

if TYPE_CHECKING:
    from toolassay.metrics.bertscore.model import BertScoreError, require_bert_score
    from toolassay.metrics.bertscore.scorer import BertScore, ReferenceBertScore

__all__ = ["BertScore", "BertScoreError", "ReferenceBertScore", "require_bert_score"]

_MODULE_OF = {
    "BertScore": "scorer",
    "BertScoreError": "model",
    "ReferenceBertScore": "scorer",
    "require_bert_score": "model",
}


def __getattr__(name: str) -> Any:
    return exported(__name__, _MODULE_OF, name)
