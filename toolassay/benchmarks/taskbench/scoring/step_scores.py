"""ROUGE and BERTScore of the steps (R1, R2, RL, BsF). Each distinct pair of texts is scored once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from toolassay.metrics.rouge import RougeBackend, RougeCollector
from toolassay.progress_callback import Progress, no_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TextPair = tuple[str, str]
"""The gold steps and the predicted steps, each joined to one text."""


class PairScorer(Protocol):
    """Scores pairs of texts by meaning (BERTScore)."""

    @property
    def name(self) -> str:
        """The name of the embedding model, for the signature; "none" if nothing can be scored."""
        ...

    def scores(self, pairs: Sequence[TextPair], *, progress: Progress = no_progress) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair, shape (pairs, 3).

        Raises:
            BertScoreError: the scores cannot be computed; the evaluation continues without them.
        """
        ...


@dataclass(frozen=True)
class TextScores:
    """The scores of the numbered pairs: ROUGE-1, -2, -L and -Lsum, shape (pairs, 4); BERTScore precision,
    recall and F1, shape (pairs, 3).
    """

    rouge: NDArray[np.float64]
    bertscore: NDArray[np.float64] | None = None


@dataclass
class StepPairCollector:
    """Numbers the distinct pairs of steps.

    Args:
        with_rouge: whether to compute ROUGE while pairs are added.
        with_texts: whether to keep the texts, for BERTScore.
        rouge_backend: who computes ROUGE.

    Raises:
        UsageError: the package of the backend is not installed.
    """

    with_rouge: bool
    with_texts: bool
    rouge_backend: RougeBackend = "builtin"
    texts: list[TextPair] = field(default_factory=list)
    _rouge: RougeCollector = field(init=False)

    def __post_init__(self) -> None:
        self._rouge = RougeCollector(self.rouge_backend if self.with_rouge else "builtin")

    def add(self, gold: str, predicted: str) -> int:
        """Add a pair. Returns its number."""
        number = self._rouge.add(gold, predicted, wanted=self.with_rouge)
        if self.with_texts and number == len(self.texts):
            self.texts.append((gold, predicted))
        return number

    def __len__(self) -> int:
        return len(self._rouge)

    def rouge(self) -> NDArray[np.float64]:
        """The ROUGE scores so far, shape (pairs, 4); no rows without `with_rouge`."""
        return self._rouge.scores()
