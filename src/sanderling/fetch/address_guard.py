"""IP addresses a worker may connect to. Checked for every connection, after DNS resolution.

Ranges of the IANA special-purpose registries (RFC 6890), because `ipaddress` differs between Python patch releases.
Embedded IPv4 addresses (v4-mapped, NAT64) are checked; obsolete tunnels (6to4, Teredo) are refused.
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
            "168.63.129.16/32",  # Azure WireServer, in public address space
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

# The only IPv6 block for global unicast. Outside it: loopback, v4-compatible, ULA, link-local, multicast ...
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
    """Return False also for text that is not an address."""
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
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in NAT64_PREFIX else None


def parse_ip_literal(hostname: str) -> str | None:
    """Return the address that a host name denotes in any notation (`0x7f.1`), or None for a real name."""
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
    """Return True if a host may be requested through a proxy, where its address is not visible."""
    address = parse_ip_literal(hostname)
    if address is not None:
        return is_global(address)
    name = hostname.rstrip(".").lower()
    return name != "localhost" and not name.endswith((".localhost", ".local", ".internal"))


def filter_global(addresses: Iterable[str]) -> tuple[str, ...]:
    """Return the addresses of the public internet."""
    return tuple(address for address in addresses if is_global(address))


def find_allowed_addresses(
    hostname: str, addresses: tuple[str, ...], allow_private: bool, uses_proxy: bool
) -> tuple[str, ...] | None:
    """Return the addresses at which a host may be requested.

    None: not at all. Empty: the host name is an address, or the transport resolves it.
    """
    literal = parse_ip_literal(hostname)
    if allow_private:
        return addresses if literal is None else ()
    if uses_proxy:
        return () if can_request_by_name(hostname) else None
    if literal is not None:
        return () if is_global(literal) else None
    return filter_global(addresses) or (None if addresses else ())
