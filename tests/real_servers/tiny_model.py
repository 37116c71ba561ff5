"""Makes a tiny language model that has learnt nothing: a folder that model servers load.

    python tests/real_servers/tiny_model.py FOLDER [SEED]

Run by the Python of the server that loads it: each writes the form of its own version of transformers. The
tokenizer is trained on the tools and requests of the bundled data; the weights are random, the same for the
same seed. It never ends an answer by itself, so that answers end at the token limit.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = 8192
VOCABULARY = 2000
BEGIN, END = "<s>", "</s>"
TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}\n{% endif %}"
    "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
)


def words() -> list[str]:
    """A few hundred lines of our own words."""
    paths = sorted(ROOT.glob("data_huggingface/*_requests.json")) + sorted(ROOT.glob("data_*/tool_desc.json"))
    return [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def make_tokenizer(folder: Path) -> None:
    """Train a byte-level tokenizer: it can write every text."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(words(), vocab_size=VOCABULARY, special_tokens=[BEGIN, END])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, bos_token=BEGIN, eos_token=END, model_max_length=CONTEXT
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)


def make_model(folder: Path, seed: int) -> None:
    """Draw the weights. vLLM wants heads of 64."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=64,
        max_position_embeddings=CONTEXT,
        bos_token_id=0,
        eos_token_id=1,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.lm_head.weight *= 50  # one word is far likelier than the others
        model.lm_head.weight[1] = 0  # and it is never the end
    model.save_pretrained(folder)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    make_tokenizer(place)
    make_model(place, seed=int(sys.argv[2]) if len(sys.argv) > 2 else 7)
