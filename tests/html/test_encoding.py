"""Tests of encoding detection."""

import pytest

from sanderling.discovery.sitemap_parser import parse_sitemap
from sanderling.html.encoding import detect_encoding

SITEMAP = "<urlset><url><loc>http://x/é</loc></url></urlset>"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_encodings_are_detected_by_prefix(codec: str) -> None:
    assert [entry.loc for entry in parse_sitemap([SITEMAP.encode(codec)]).entries] == ["http://x/é"]


@pytest.mark.parametrize(
    ("declared", "charset", "codec"),
    [
        ("", "", "utf-8"),
        ("", "koi8-r", "koi8-r"),
        ("windows-1251", "koi8-r", "cp1251"),
        ("nonsense", "koi8-r", "koi8-r"),
        ("utf-7", "hex", "utf-8"),
        ("iso-8859-1", "", "cp1252"),
        ("gb2312", "", "gb18030"),
        ("", "no such\0thing", "utf-8"),
        ("windows-874", "", "cp874"),
        ("windows-31j", "", "cp932"),
        ("", "x-sjis", "cp932"),
        ("", "ks_c_5601-1989", "cp949"),
        ("x-x-big5", "", "big5hkscs"),
        ("x-mac-cyrillic", "", "mac-cyrillic"),
        ("logical", "", "iso8859-8"),
        ("iso-8859-9", "", "cp1254"),
        ("tis-620", "", "cp874"),
        ("", "cp850", "cp850"),
        ("utf-16", "", "utf-8"),
        ("iso-2022-kr", "", "iso2022_kr"),
        ("x-user-defined", "", "utf-8"),
    ],
)
def test_xml_declaration_overrides_http_charset(declared: str, charset: str, codec: str) -> None:
    head = f"<?xml version='1.0' encoding='{declared}'?>" if declared else "<urlset>"
    assert detect_encoding(head.encode(), charset) == codec
