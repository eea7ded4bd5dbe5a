"""Which addresses a migrant may connect to."""

import pytest

from sanderling.fetch.address_guard import can_request_by_name, filter_global, is_global, parse_ip_literal


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1", "2a00:1450::8a"],
)
def test_a_public_address_is_open(address: str) -> None:
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
def test_a_special_address_is_closed(address: str) -> None:
    assert not is_global(address)


@pytest.mark.parametrize(
    "address",
    [
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::127.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b::10.0.0.1"),
        *("2002:7f00:1::", "2002:808:808::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    ],
)
def test_an_address_that_hides_another_is_no_way_round(address: str) -> None:
    assert not is_global(address)


def test_a_translated_address_is_judged_by_what_it_stands_for() -> None:
    assert is_global("64:ff9b::8.8.8.8")
    assert is_global("::ffff:8.8.8.8")


@pytest.mark.parametrize("word", ["", "example.org", "127.1", "2130706433", "1.2.3.4.5", "8.8.8.8 ", "1.2.3.256"])
def test_what_is_no_address_is_closed(word: str) -> None:
    assert not is_global(word)


@pytest.mark.parametrize(
    "spelling", ["127.0.0.1", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "127.1", "127.0.1"]
)
def test_odd_spellings_of_loopback_are_read(spelling: str) -> None:
    assert parse_ip_literal(spelling) == "127.0.0.1"


def test_brackets_are_no_disguise() -> None:
    assert parse_ip_literal("[::ffff:127.0.0.1]") is not None
    assert not is_global(parse_ip_literal("[::ffff:127.0.0.1]") or "")


@pytest.mark.parametrize("name", ["example.org", "1password.com", "", "0x7f.example", "१२७.0.0.1"])
def test_a_name_is_no_literal(name: str) -> None:
    assert parse_ip_literal(name) is None


@pytest.mark.parametrize(
    "name", ["localhost", "LOCALHOST.", "a.localhost", "printer.local", "metadata.google.internal", "0x7f.1", "[::1]"]
)
def test_behind_a_proxy_names_of_our_own_network_are_refused(name: str) -> None:
    assert not can_request_by_name(name)


def test_behind_a_proxy_public_names_may_be_asked_for() -> None:
    assert can_request_by_name("example.org")
    assert can_request_by_name("8.8.8.8")


def test_of_a_mixed_answer_only_the_public_part_is_used() -> None:
    assert filter_global(["127.0.0.1", "8.8.8.8", "::1"]) == ("8.8.8.8",)
