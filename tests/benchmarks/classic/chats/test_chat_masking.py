"""Personal data is masked by patterns, offline; by a model only from a folder."""

from __future__ import annotations

import logging
import socket
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import pytest

from toolassay.benchmarks.classic.chats.chat import Chat, Exchange
from toolassay.benchmarks.classic.chats.masking import Finder, Scope, find_with, mask_chat
from toolassay.errors import UsageError

pytest.importorskip("presidio_analyzer", reason="pip install '.[chats]'")


@pytest.fixture(scope="module")
def find() -> Finder:
    return find_with()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("write to ada.byron@mail.example.", "write to <EMAIL_1>."),
        ("mail o'brien+x@mail.example, 'a@b.example'", "mail <EMAIL_1>, '<EMAIL_2>'"),
        ("mail ada.byron (at) mail.example, or x[at]a.example", "mail <EMAIL_1>, or <EMAIL_2>"),
        ("call +44 20 7946 0958 or (415) 555-0132", "call <PHONE_1> or <PHONE_2>"),
        ("pay to DE89 3704 0044 0532 0130 00 today", "pay to <IBAN_1> today"),
        ("my card 4111 1111 1111 1111, please", "my card <CARD_1>, please"),
        ("see https://intra.example/u?id=7.", "see <URL_1>."),
        ("social security number 536904399", "social security number <SSN_1>"),
        ("SSN 536-90-4399", "SSN <SSN_1>"),
        ("ask Dr. Okafor", "ask Dr. <PERSON_1>"),
        ("born on 12/03/1980", "born on <DATE_OF_BIRTH_1>"),
    ],
)
def test_patterns(find: Finder, text: str, masked: str) -> None:
    assert Scope(find).mask([text]) == [masked]


@pytest.mark.parametrize(
    "text",
    [
        *("ticket INC0012345, version 1.2.3", "on 2026-11-03 at 12:30", "192 items for $1,200.50"),
        *(
            "done.so what is next",
            "my name is wrong on the badge",
            "row 536904399",
            "iban DE00 0000 0000 0000 0000 00",
        ),
        "already <EMAIL_1> and <PERSON_2>",
    ],
)
def test_what_is_no_personal_data_stays(find: Finder, text: str) -> None:
    assert Scope(find).mask([text]) == [text]


def test_one_value_has_one_placeholder_in_a_chat_and_numbering_restarts_in_the_next(find: Finder) -> None:
    counts = Counter[str]()
    chat = Chat(
        "c",
        "hr",
        (
            Exchange("My name is Ada Byron, a@b.example, +1 415 555 0132", "Thanks Ada, we mail A@B.example"),
            Exchange("or c@d.example, or call 415-555-0132", "Ada Byron, it is done"),
        ),
    )
    masked = mask_chat(chat, find, counts)
    assert [text for each in masked.exchanges for text in (each.user, each.bot)] == [
        "My name is <PERSON_1>, <EMAIL_1>, <PHONE_1>",
        "Thanks <PERSON_1>, we mail <EMAIL_1>",
        "or <EMAIL_2>, or call <PHONE_2>",
        "<PERSON_1>, it is done",
    ]
    assert counts == {"PERSON": 3, "EMAIL": 3, "PHONE": 2}
    assert (
        mask_chat(Chat("d", "hr", (Exchange("c@d.example"),)), find, counts).exchanges[0].user == "<EMAIL_1>"
    )


def test_a_known_value_is_masked_in_any_case_but_a_name_that_is_a_word_is_not(find: Finder) -> None:
    texts = ["My name is Will Byron", "will you help will byron?", "WILL BYRON! Yours, BYRON"]
    assert Scope(find).mask(texts) == [
        "My name is <PERSON_1>",
        "will you help <PERSON_1>?",
        "<PERSON_1>! Yours, <PERSON_1>",
    ]


def test_own_patterns() -> None:
    assert Scope(find_with(own={"EMPLOYEE": "E[0-9]{6}"})).mask(["I am E123456"]) == ["I am <EMPLOYEE_1>"]
    with pytest.raises(UsageError, match="is invalid"):
        find_with(own={"EMPLOYEE": "("})
    with pytest.raises(UsageError, match="matches an empty text"):
        find_with(own={"EMPLOYEE": "x*"})
    with pytest.raises(UsageError, match="cannot be the name of a kind"):
        find_with(own={"e-mail": "x"})
    with pytest.raises(UsageError, match="--phone_regions: unknown region 'germany'"):
        find_with(regions=["US", "germany"])


def test_a_model_is_a_folder_on_disk_and_is_not_fetched(tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns(
        [{"label": "PERSON", "pattern": "Grace Murray"}, {"label": "ORG", "pattern": "Navy"}]
    )
    pipeline.to_disk(tmp_path / "model")
    masked = Scope(find_with(tmp_path / "model")).mask(["Grace Murray of the Navy, g@m.example"])
    assert masked == ["<PERSON_1> of the Navy, <EMAIL_1>"]
    for name in ("en_core_web_sm", str(tmp_path)):
        with pytest.raises(UsageError, match="not the folder of a spaCy model"):
            find_with(Path(name))


def test_nothing_is_logged(find: Finder, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        Scope(find).mask(["my mail is ada.byron@mail.example"])
    assert "ada.byron" not in caplog.text
