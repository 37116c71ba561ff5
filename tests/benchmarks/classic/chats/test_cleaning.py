"""Texts are repaired; what is no markup stays."""

from __future__ import annotations

import pytest

from toolassay.benchmarks.classic.chats.chat import cleaner

pytest.importorskip("ftfy", reason="pip install '.[chats]'")
pytest.importorskip("bs4", reason="pip install '.[chats]'")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("it isnâ€™t", "it isn’t"),
        ("<p>One</p><p>two <b>bo</b>ld</p>three<br/>four", "One\ntwo bold\nthree\nfour"),
        ("<script>alert(1)</script>hello <!-- not this -->you", "hello you"),
        ("a &amp; b &#39;c&#39; &lt;b&gt;", "a & b 'c' <b>"),
        ("I am <your name>, 3 < 5 > 2, <3 and <PERSON_1>", "I am <your name>, 3 < 5 > 2, <3 and <PERSON_1>"),
        ("bell\x07 and \x1b[31mred\x1b[0m", "bell and red"),
        ("ada.byron<wbr>@mail\u200b.ex\u00adample, \ufeffyes", "ada.byron@mail.example, yes"),
        (" \n ", ""),
        ('<a title="x>y" href="z">text</a>', "text"),
    ],
)
def test_cleaning(text: str, clean: str) -> None:
    assert cleaner()(text) == clean
