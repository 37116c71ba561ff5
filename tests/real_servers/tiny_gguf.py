"""Makes a tiny language model that has learnt nothing, as a GGUF file: one token a byte, random weights.

    python tests/real_servers/tiny_gguf.py FILE [SEED]

Run by a Python that has `gguf`.
"""

from __future__ import annotations

import sys
from pathlib import Path

CONTEXT = 16384
"""Twice that of the other tiny model, for a byte takes a token here."""

WIDTH, INNER, LAYERS = 64, 128, 2
TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}\n{% endif %}"
    "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
)


def make(path: Path, seed: int) -> None:
    """Write the file."""
    import gguf
    import numpy as np

    control = ["<unk>", "<s>", "</s>"]
    tokens = control + [f"<0x{byte:02X}>" for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds + [gguf.TokenType.BYTE] * 256)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)

    random = np.random.default_rng(seed)

    def weights(name: str, *shape: int, scale: float = 0.1) -> None:
        writer.add_tensor(name, (random.standard_normal(shape) * scale).astype(np.float32))

    weights("token_embd.weight", len(tokens), WIDTH)
    output = random.standard_normal((len(tokens), WIDTH)).astype(np.float32)
    output[: len(control)] = 0  # answers end at the token limit
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        weights(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        weights(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        weights(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
        for part in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{part}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    make(Path(sys.argv[1]), seed=int(sys.argv[2]) if len(sys.argv) > 2 else 7)
