from __future__ import annotations

import pytest

from toolassay.gates.declared_types import content_of, literal_fit


@pytest.mark.parametrize(
    ("literal", "kinds"),
    [
        ("example.jpg", {"image"}),
        ("EXAMPLE.JPEG", {"image"}),
        ("'example.heic'", {"image"}),
        ("photos/summer.holiday.webp", {"image"}),
        (r"C:\music\song.FLAC", {"audio"}),
        ("clip.mkv", {"video"}),
        ("speech.webm", {"audio", "video"}),
        ("report.pdf", {"document"}),
        ("notes.txt", {"text"}),
        ("https://www.author.com/x", {"url", "text"}),
        ("https://x.org/a/b.MP3?sig=1#t", {"url", "audio"}),
        ("www.example.com", {"url", "text"}),
        ("example.com/article", {"url", "text"}),
        ("http://[x", {"url", "text"}),
        ("data:image/png;base64,AAAA", {"url", "image"}),
        ("my holiday photo.jpg", {"image", "text"}),
        ("I like apples.gift", {"text"}),
        ("notes.authentic", {"url", "text"}),
        ("Look at example.jpg and tell me.", {"text"}),
        ("1.5x", {"text"}),
        ("x" * 500 + ".jpg", {"text"}),
        ("", {"text"}),
    ],
)
def test_what_a_literal_is_by_its_spelling(literal: str, kinds: set[str]) -> None:
    assert content_of(literal).kinds == kinds


@pytest.mark.parametrize(
    ("kind", "endings"),
    [
        ("image", "jpg jpeg png gif bmp tif tiff webp svg heic avif"),
        ("audio", "wav mp3 m4a ogg flac aac opus wma mid aiff"),
        ("video", "mp4 mov avi mkv webm wmv flv mpg mpeg m4v ogv 3gp"),
    ],
)
def test_endings_of_all_media_are_known(kind: str, endings: str) -> None:
    assert [ending for ending in endings.split() if kind not in content_of(f"a.{ending}").kinds] == []


@pytest.mark.parametrize(
    ("literal", "kind", "grade"),
    [
        ("example.jpg", "photo", "fits"),
        ("example.jpg", "Image", "fits"),
        ("example.gif", "video", "fits"),
        ("https://x.org/a.png", "image", "fits"),
        ("invoice.pdf", "image", "fits"),
        ("table.xlsx", "image", "doubtful"),
        ("notes.txt", "image", "wrong"),
        ("example.mp4", "audio", "wrong"),
        ("a red fox", "audio", "wrong"),
        ("the recording of my talk", "audio", "doubtful"),
        ("What is in the picture?", "image", "wrong"),
        ("see https://x.org for it", "url", "doubtful"),
        ("a red fox", "url", "wrong"),
        ("https://x.org/a.mp4", "text", "doubtful"),
        ("https://x.org", "text", "fits"),
        ("notes.txt", "text", "fits"),
        ("example.wav", "invoice", "wrong"),
        ("example.jpg", "invoice", "doubtful"),
        ("INV-2041", "invoice", "fits"),
        ("extras are in", "document", "doubtful"),
        ("extras are in", "Travel Document", "doubtful"),
        ("extras are in", "table", "fits"),  # may be told in words
        ("extras are in", "file", "doubtful"),
        ("the slides I showed", "presentation", "doubtful"),
        ("extras are in", "report", "fits"),  # may be its words
        ("the Annual Report", "document", "fits"),
        ("form 1099", "pdf", "fits"),
        ("my report.pdf", "pdf", "fits"),
        ("example.com/a", "document", "fits"),
        ("city, people\nCork, 220000", "table", "fits"),
        ("a long letter " * 20, "document", "fits"),
        ("example.mp4", "file", "fits"),
        ("F3", "soil_sample", "fits"),
        ("example.wav", "soil_sample", "doubtful"),
        ("forty-two", "number", "fits"),
        ("a red fox", "number", "wrong"),
        ("example2.mp3", "number", "wrong"),
        ("example.mp4", "any", "fits"),
        ("https://x.org/photos/9", "image", "fits"),
        ("https://x.org", "image", "doubtful"),
    ],
)
def test_whether_a_literal_fits_a_type(literal: str, kind: str, grade: str) -> None:
    assert literal_fit(literal, kind).grade == grade


def test_an_address_may_have_to_be_fetched_where_addresses_have_a_type() -> None:
    assert literal_fit("https://x.org/photos/9", "image", {"image", "url"}).grade == "doubtful"


def test_without_a_type_for_images_anything_may_be_one() -> None:
    assert literal_fit("scan.png", "invoice", {"text"}).fits
    assert literal_fit("scan.png", "x_ray", {"text"}).fits
