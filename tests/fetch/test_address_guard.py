"""Public and special-purpose addresses."""

import pytest

from sanderling.fetch.address_guard import (
    can_request_by_name,
    filter_global,
    find_allowed_addresses,
    is_global,
    parse_ip_literal,
)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1", "2a00:1450::8a"],
)
def test_public_address_is_allowed(address: str) -> None:
    assert is_global(address)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "127.0.0.1", "127.255.255.254", "172.16.0.1", "172.31.255.255"),
        *("192.168.0.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "100.127.255.255", "192.0.0.192"),
        *("192.0.2.1", "198.51.100.1", "203.0.113.9", "198.18.0.1", "198.19.255.255", "192.88.99.1", "168.63.129.16"),
        *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "100::1"),
        *("2001:db8::1", "3fff::1", "5f00::1", "2001::1", "2001:0:7f00:1::", "2001:10::1", "64:ff9b:1::1"),
    ],
)
def test_special_purpose_address_is_refused(address: str) -> None:
    assert not is_global(address)


@pytest.mark.parametrize(
    "address",
    [
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::127.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b::10.0.0.1"),
        *("2002:7f00:1::", "2002:808:808::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    ],
)
def test_embedded_private_ipv4_address_is_refused(address: str) -> None:
    assert not is_global(address)


def test_mapped_and_nat64_addresses_are_checked_by_their_ipv4_address() -> None:
    assert is_global("64:ff9b::8.8.8.8")
    assert is_global("::ffff:8.8.8.8")


@pytest.mark.parametrize("word", ["", "example.org", "127.1", "2130706433", "1.2.3.4.5", "8.8.8.8 ", "1.2.3.256"])
def test_invalid_address_is_refused(word: str) -> None:
    assert not is_global(word)


@pytest.mark.parametrize(
    "literal", ["127.0.0.1", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "127.1", "127.0.1"]
)
def test_unusual_ipv4_notations_are_parsed(literal: str) -> None:
    assert parse_ip_literal(literal) == "127.0.0.1"


def test_bracketed_ipv6_literal_is_parsed() -> None:
    assert parse_ip_literal("[::ffff:127.0.0.1]") is not None
    assert not is_global(parse_ip_literal("[::ffff:127.0.0.1]") or "")


@pytest.mark.parametrize("name", ["example.org", "1password.com", "", "0x7f.example", "१२७.0.0.1"])
def test_host_name_is_not_a_literal(name: str) -> None:
    assert parse_ip_literal(name) is None


@pytest.mark.parametrize(
    "name", ["localhost", "LOCALHOST.", "a.localhost", "printer.local", "metadata.google.internal", "0x7f.1", "[::1]"]
)
def test_private_names_are_refused_behind_a_proxy(name: str) -> None:
    assert not can_request_by_name(name)


def test_public_names_are_allowed_behind_a_proxy() -> None:
    assert can_request_by_name("example.org")
    assert can_request_by_name("8.8.8.8")


def test_filter_keeps_public_addresses_only() -> None:
    assert filter_global(["127.0.0.1", "8.8.8.8", "::1"]) == ("8.8.8.8",)


@pytest.mark.parametrize(
    ("hostname", "addresses", "allow_private", "uses_proxy", "expected"),
    [
        ("a.test", ("8.8.8.8", "10.0.0.1"), False, False, ("8.8.8.8",)),
        ("a.test", ("10.0.0.1",), False, False, None),
        ("a.test", (), False, False, ()),
        ("8.8.8.8", (), False, False, ()),
        ("127.1", (), False, False, None),
        ("a.test", ("10.0.0.1",), True, False, ("10.0.0.1",)),
        ("127.1", ("127.0.0.1",), True, False, ()),
        ("a.test", ("8.8.8.8",), False, True, ()),
        ("localhost", (), False, True, None),
    ],
)
def test_allowed_addresses_of_a_host(
    hostname: str,
    addresses: tuple[str, ...],
    allow_private: bool,
    uses_proxy: bool,
    expected: tuple[str, ...] | None,
) -> None:
    assert find_allowed_addresses(hostname, addresses, allow_private, uses_proxy) == expected
