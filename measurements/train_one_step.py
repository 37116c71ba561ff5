"""One step of supervised fine-tuning on an export, with trl and peft, as a user would train on it.

    toolassay export --data_dir DATA_DIR --to openai --arguments object --out EXPORT
    python -m measurements.train_one_step EXPORT [--samples 2] [--length 16384] [--show]

The folder is loaded with `datasets` as it is. The model is a Llama of random weights that is built here, with
LoRA; the tokenizer has one token for each byte; the chat template marks what the assistant says, and only
that is learned. Nothing is downloaded. Prints the loss and how many tokens are learned. Fails (exit code 1)
if the loss is not finite, if no token of a sample is learned, or if a tool's result is.

trl is not among the project's requirements; use a folder of its own, with a torch for the CPU first:

    python3 -m venv /tmp/trlvenv
    /tmp/trlvenv/bin/pip install torch==2.13.0
    /tmp/trlvenv/bin/pip install trl peft transformers datasets tokenizers
    /tmp/trlvenv/bin/python -m measurements.train_one_step EXPORT
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).resolve().parents[1] / "tests" / "exporters" / "templates" / "hermes_training.jinja"
MARKS = ("<pad>", "<|im_start|>", "<|im_end|>")
NOT_LEARNED = -100  # the label that transformers leaves out of the loss


def byte_tokenizer() -> Any:
    """A tokenizer with a token for each byte and each mark of the chat template."""
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    known = {token: number for number, token in enumerate([*MARKS, *alphabet])}
    model = tokenizers.Tokenizer(tokenizers.models.BPE(known, []))
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    model.add_special_tokens(list(MARKS))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, pad_token=MARKS[0], eos_token=MARKS[2]
    )
    tokenizer.chat_template = TEMPLATE.read_text(encoding="utf-8")
    return tokenizer


def tiny_model(tokens: int, length: int) -> Any:
    """A Llama of random weights."""
    transformers = import_module("transformers")
    import_module("torch").manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=tokens,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=length,
    )
    return transformers.LlamaForCausalLM(config)


def trainer_of(chats: Any, length: int, folder: Path) -> Any:
    """A trainer of one step."""
    trl, peft = import_module("trl"), import_module("peft")
    tokenizer = byte_tokenizer()
    settings = trl.SFTConfig(
        output_dir=str(folder),
        max_steps=1,
        per_device_train_batch_size=len(chats),
        max_length=length,
        assistant_only_loss=True,
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
    )
    lora = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    return trl.SFTTrainer(
        model=tiny_model(len(tokenizer), length),
        args=settings,
        train_dataset=chats,
        processing_class=tokenizer,
        peft_config=lora,
    )


def learned_texts(trainer: Any) -> list[str]:
    """For each sample of the batch, the text whose tokens are learned."""
    (batch,) = trainer.get_train_dataloader()
    ids, labels = batch["input_ids"], batch["labels"]
    return [
        trainer.processing_class.decode(row[row_labels != NOT_LEARNED])
        for row, row_labels in zip(ids, labels, strict=True)
    ]


def main() -> None:
    """Load, train, check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("export", type=Path)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--length", type=int, default=16_384, help="tokens of a sample; longer ones are cut")
    parser.add_argument("--show", action="store_true", help="print what is learned of the first sample")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        loaded = import_module("datasets").load_dataset(str(asked.export), cache_dir=f"{name}/cache")
        chats = loaded["train"]
        chats = chats.select(range(min(asked.samples, len(chats))))
        messages: list[list[Mapping[str, Any]]] = chats["messages"]
        trainer = trainer_of(chats, asked.length, Path(name))
        # trl drops a sample whose labels are all masked.
        if len(trainer.train_dataset) < len(chats):
            sys.exit("nothing of a sample is learned: all its labels are masked")
        texts = learned_texts(trainer)
        loss = float(trainer.train().training_loss)
    if asked.show:
        print(texts[0])
    print(f"loss {loss:.4f}; {sum(map(len, texts)):,} characters of {len(texts)} samples are learned")
    if not math.isfinite(loss):
        sys.exit("the loss is not finite")
    if not all(texts):
        sys.exit("nothing of a sample is learned: all its labels are masked")
    if any("<tool_response>" in text for text in texts):
        sys.exit("the results of tools are learned")
    calls = sum(len(one.get("tool_calls") or ()) for chat in messages for one in chat)
    if sum(text.count("<tool_call>") for text in texts) != calls:
        sys.exit("not every call is learned; a sample may be longer than --length")


if __name__ == "__main__":
    main()
