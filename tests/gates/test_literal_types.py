from __future__ import annotations

import pytest

from toolassay.gates.declared_types import literal_fit
from toolassay.gates.text_kinds import content_of


@pytest.mark.parametrize(
    ("literal", "kinds"),
    [
        ("photos/summer.holiday.webp", {"image"}),
        (r"C:\music\song.FLAC", {"audio"}),
        ("speech.webm", {"audio", "video"}),
        ("report.pdf", {"document"}),
        ("https://x.org/a/b.MP3?sig=1#t", {"url", "audio"}),
        ("example.com/article", {"url", "text"}),
        ("http://[x", {"url", "text"}),
        ("data:image/png;base64,AAAA", {"url", "image"}),
        ("my holiday photo.jpg", {"image", "text"}),
        ("Look at example.jpg and tell me.", {"text"}),
        ("x" * 500 + ".jpg", {"text"}),
        ("", {"text"}),
    ],
)
def test_what_a_literal_is_by_its_spelling(literal: str, kinds: set[str]) -> None:
    assert content_of(literal).kinds == kinds


@pytest.mark.parametrize(
    ("literal", "kind", "grade"),
    [
        ("example.jpg", "Image", "fits"),
        ("table.xlsx", "image", "fits"),
        ("notes.txt", "image", "wrong"),
        ("What is in the picture?", "image", "wrong"),
        ("see https://x.org for it", "url", "wrong"),
        ("https://x.org/a.mp4", "text", "doubtful"),
        ("example.wav", "invoice", "wrong"),
        ("INV-2041", "invoice", "fits"),
        ("extras are in", "table", "fits"),  # may be told in words
        ("the Annual Report", "document", "fits"),
        ("city, people\nCork, 220000", "table", "fits"),
        ("example.mp4", "file", "fits"),
        ("F3", "soil_sample", "fits"),
        ("a red fox", "number", "wrong"),
        ("example2.mp3", "number", "wrong"),
        ("https://x.org/photos/9", "image", "fits"),
    ],
)
def test_whether_a_literal_fits_a_type(literal: str, kind: str, grade: str) -> None:
    assert literal_fit(literal, kind).grade == grade


def test_an_address_may_have_to_be_fetched_where_addresses_have_a_type() -> None:
    assert literal_fit("https://x.org/photos/9", "image", {"image", "url"}).grade == "doubtful"


def test_without_a_type_for_images_anything_may_be_one() -> None:
    assert literal_fit("scan.png", "invoice", {"text"}).fits
    assert literal_fit("scan.png", "x_ray", {"text"}).fits
