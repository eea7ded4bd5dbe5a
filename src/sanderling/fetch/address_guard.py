"""The guard at the door: which addresses a migrant may connect to. Checked for every connection, after resolving.

The ranges are those of the IANA special-purpose registries (RFC 6890), written out here because the tables inside
`ipaddress` differ between patch releases of Python. What carries an IPv4 address inside is unwrapped and judged by it
where that is how the packet travels (v4-mapped, NAT64); dead tunnels (6to4, Teredo) are refused outright.
"""

import socket
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

BLOCKED_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT; cloud metadata at 100.100.100.200
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # a cloud's wire server, in public space
            "169.254.0.0/16",  # link-local; cloud metadata at 169.254.169.254
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments; cloud metadata at 192.0.0.192
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)

# The one block of IPv6 given out to the world. Outside it: loopback, v4-compatible, ULA, link-local, multicast ...
GLOBAL_V6 = IPv6Network("2000::/3")
BLOCKED_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3fff::/20",  # documentation
        ),
    )
)
NAT64_PREFIX = IPv6Network("64:ff9b::/96")


@lru_cache(maxsize=4096)
def is_global(address: str) -> bool:
    """Say whether an address belongs to the public internet; what is no address does not."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or _extract_nat64(ip)
        if inner is None:
            return ip.scope_id is None and ip in GLOBAL_V6 and not any(ip in block for block in BLOCKED_V6)
        ip = inner
    return not any(ip in block for block in BLOCKED_V4)


def _extract_nat64(ip: IPv6Address) -> IPv4Address | None:
    """Take the IPv4 address out of one that a NAT64 gateway translates."""
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in NAT64_PREFIX else None


def parse_ip_literal(hostname: str) -> str | None:
    """Give the address a host name spells, however oddly (`0x7f.1`, `2130706433`); None for a real name."""
    name = hostname.strip("[]")
    try:
        return str(ip_address(name))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(name)) if name[:1].isdigit() else None
    except (OSError, UnicodeEncodeError):
        return None


def can_request_by_name(hostname: str) -> bool:
    """Say whether a host may be asked for by name alone, as through a proxy, where we never see the address."""
    address = parse_ip_literal(hostname)
    if address is not None:
        return is_global(address)
    name = hostname.rstrip(".").lower()
    return name != "localhost" and not name.endswith((".localhost", ".local", ".internal"))


def filter_global(addresses: Iterable[str]) -> tuple[str, ...]:
    """Keep the addresses a migrant may connect to."""
    return tuple(address for address in addresses if is_global(address))
