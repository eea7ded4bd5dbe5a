"""Lines of robots.txt that are not rules for paths: which belong to the groups of our agent."""

import re
from collections import defaultdict

from sanderling.fetch.robots import decode_robots_body, parse_agent_token

LINE_ENDS = re.compile(r"\r\n|\r|\n")
AGENT_LINE = re.compile(r"\s*user-?agent\s*:(.*)", re.IGNORECASE | re.DOTALL)
RULE_LINE = re.compile(r"\s*[a-z-]{1,40}\s*:", re.IGNORECASE)
MAX_LINES = 20_000


def select_agent_lines(body: bytes, agent: str, pattern: re.Pattern[str]) -> list[str]:
    """Return the lines that match, of the groups for our agent; else of those for `*`, and of no group."""
    own = {token.lower() for token in re.findall(r"[\w-]+", agent)}
    lines: dict[str, list[str]] = defaultdict(list)
    agents: list[str] = ["*"]  # lines before the first group are for all
    follows_agent = False
    for line in LINE_ENDS.split(decode_robots_body(body))[:MAX_LINES]:
        text = line.partition("#")[0]
        if match := AGENT_LINE.fullmatch(text):
            token = "*" if match[1].strip().startswith("*") else parse_agent_token(match[1])
            agents = [*agents, token] if follows_agent else [token]
            follows_agent = True
        elif RULE_LINE.match(text):
            follows_agent = False
            if pattern.fullmatch(text):
                for name in agents:
                    lines[name].append(text)
    specific = max(own & lines.keys(), key=len, default="*")
    return lines[specific]
