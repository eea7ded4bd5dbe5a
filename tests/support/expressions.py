"""Find the regular expressions of the package, and inputs that make a backtracking matcher slow."""

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import BuiltinMethodType, ModuleType
from typing import Any, NamedTuple

import msgspec

import sanderling
from sanderling.content import soft_404, word_lists

ENTRY_POINTS = ("__main__", "_native")  # modules that cannot be imported
MAX_NESTING = 4  # of containers that hold expressions
LOOKS_LIKE_EXPRESSION = re.compile(r"\\[sSdDwWb]|\(\?|\[[^\]]*\][*+]|\.[*+]")
HAS_INLINE = re.compile(r"^ .*\bre\.[a-z]+\(", re.MULTILINE)  # in a function
ANCHORED_METHODS = frozenset(("match", "fullmatch"))
SAMPLE_CHARS = " a0A-.\n,:\"'<>/=&?_é|([1z#中"
COMMON_PUMPS = (" ", "a", "0", "\n", "-", ".")
LONG_REPEAT = 100  # a bounded repetition that can make matching slow
END = "\0"  # makes most matches fail, so that each way to match is tried
METHODS = {  # of expressions that are applied by another name than their own
    "warc.surt.PATH_SESSION_PATTERNS": "fullmatch",
    "warc.surt.QUERY_SESSION_PATTERNS": "fullmatch",
}


class Expression(NamedTuple):
    """A regular expression, and the method by which it is applied ("search": anywhere in a text)."""

    pattern: re.Pattern[Any]
    method: str


def find_expressions() -> dict[str, Expression]:
    """Return all expressions of the package by module and name or line."""
    found = dict[str, Expression]()
    for module in _import_modules():
        prefix = module.__name__.removeprefix("sanderling.")
        for name, value in vars(module).items():
            for number, expression in enumerate(_find_nested(value, 0)):
                found[f"{prefix}.{name}" + f" {number}" * bool(number)] = expression
        named = {expression.pattern.pattern for expression in found.values()}
        for line, expression in _find_inline(module):
            if expression.pattern.pattern not in named:
                found[f"{prefix}:{line}"] = expression
    found |= {f"content.soft_404 {hint}": expression for hint, expression in _find_soft_errors()}
    return _drop_repeated({name: _find_method(name, expression) for name, expression in _drop_parts(found).items()})


def _drop_parts(found: dict[str, Expression]) -> dict[str, Expression]:
    """Leave out strings that are parts of other expressions and are never matched by themselves."""
    all_texts = {_show(expression.pattern) for expression in found.values()}

    def is_part(name: str, text: str) -> bool:
        module, _, constant = name.rpartition(".")
        is_matched = re.search(rf"[(,] ?{constant}[,)]|\b{constant}\)?\.\w", _read_users(module))
        return constant.isupper() and not is_matched and any(text in other and text != other for other in all_texts)

    return {name: expression for name, expression in found.items() if not is_part(name, _show(expression.pattern))}


def _show(pattern: re.Pattern[Any]) -> str:
    return pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern


def _drop_repeated(found: dict[str, Expression]) -> dict[str, Expression]:
    """Keep each expression once: imported names, and strings that are also compiled."""
    unique = dict[tuple[Any, bool], str]()
    for name, (pattern, method) in found.items():
        unique.setdefault((pattern.pattern, method in ANCHORED_METHODS), name)
    return {name: found[name] for name in unique.values()}


def _find_method(name: str, expression: Expression) -> Expression:
    """Return an expression with the method that the code calls on its name; "search" if it calls more than one."""
    module, _, constant = name.split()[0].rpartition(".")
    if method := METHODS.get(name.split()[0]):
        return expression._replace(method=method)
    uses = set(re.findall(rf"\b{re.escape(constant)}\)?\.(\w+)", _read_users(module)))  # also compile(WORD).match
    return expression._replace(method=min(uses)) if len(uses) == 1 and uses <= ANCHORED_METHODS else expression


@cache
def _read_users(module: str) -> str:
    """Return the source of a module and of those that import names from it."""
    own = f"{module.replace('.', '/')}.py"
    statement = f"from sanderling.{module} import"
    return "\n".join(text for path, text in _read_sources().items() if path.endswith(own) or statement in text)


@cache
def _read_sources() -> dict[str, str]:
    return {str(path): path.read_text("utf-8") for path in Path(str(sanderling.__file__)).parent.rglob("*.py")}


def _import_modules() -> Iterator[ModuleType]:
    """Import the modules of the package, except those whose optional dependency is not installed."""
    for module in pkgutil.walk_packages(sanderling.__path__, "sanderling."):
        if module.name.endswith(ENTRY_POINTS):
            continue
        try:
            yield importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("sanderling"):
                raise


def _find_nested(value: Any, depth: int) -> Iterator[Expression]:
    """Yield the expressions in a value: patterns, their methods, strings compiled later, and containers of these."""
    if isinstance(value, re.Pattern):
        yield Expression(value, "search")
    elif isinstance(value, BuiltinMethodType) and isinstance(value.__self__, re.Pattern):
        yield Expression(value.__self__, value.__name__)
    elif isinstance(value, str | bytes):
        yield from _compile_string(value)
    elif _is_lazy(value):
        yield from _find_nested(value(), depth + 1)
    elif depth < MAX_NESTING:
        for item in _list_items(value):
            yield from _find_nested(item, depth + 1)


def _list_items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, tuple | list | set | frozenset):
        return [*value]
    if isinstance(value, msgspec.Struct):
        return [getattr(value, name) for name in value.__struct_fields__]
    return [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]


def _is_lazy(value: Any) -> bool:
    """Return whether a value is a function that loads or compiles something of the language files on first use."""
    return (
        hasattr(value, "cache_info")
        and value.__module__.startswith("sanderling.content.")
        and not inspect.signature(value).parameters
    )


def _find_soft_errors() -> Iterator[tuple[str, Expression]]:
    """Yield the expressions of language files by the text that they require."""
    for group in soft_404.NOT_FOUND + soft_404.OUTAGE + soft_404.LOGIN:
        for hint, pattern in word_lists.load_patterns(f"soft_404.{group}").items():
            yield hint, Expression(re.compile(pattern, re.IGNORECASE), "search")


def _compile_string(text: str | bytes) -> Iterator[Expression]:
    shown = text.decode("latin-1") if isinstance(text, bytes) else text
    if len(shown) < 4 or not LOOKS_LIKE_EXPRESSION.search(shown):
        return
    try:
        filled = word_lists._fill_groups(text) if isinstance(text, str) else text
        yield Expression(re.compile(filled, re.IGNORECASE), "search")
    except (re.error, RecursionError, OverflowError):  # a format, an SQL statement
        return


def _find_inline(module: ModuleType) -> Iterator[tuple[int, Expression]]:
    """Yield the expressions of `re.search(...)` and the like in functions, with their lines."""
    source = Path(str(module.__file__)).read_text("utf-8")
    nodes = list(ast.walk(ast.parse(source))) if HAS_INLINE.search(source) else []
    bound = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if not (isinstance(node, ast.Call) and node.args and re.fullmatch(r"re\.\w+", ast.unparse(node.func))):
            continue
        try:
            pattern = eval(ast.unparse(node.args[0]), dict(vars(module)))  # noqa: S307 - code of this package
        except NameError:  # made of an argument: written by the user, or escaped text
            continue
        method = bound.get(id(node), "search") if ast.unparse(node.func) == "re.compile" else ast.unparse(node.func)[3:]
        if isinstance(pattern, str | bytes):
            yield node.lineno, Expression(re.compile(pattern), method)


def build_attacks(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """Return beginnings, repeated parts and ends of texts that reach each repetition of an expression."""
    source = _show(pattern)
    repeats = dict.fromkeys(
        (start, part) for start, part in _find_repeats(parser.parse(source, pattern.flags), "") if part
    )
    starts = dict.fromkeys(start for start, _ in repeats)
    attacks = list[tuple[str, str]]()
    for start, part in repeats:
        attacks += [(start, part), ("", start + part), ("", part)]
        if start and len(part) > 1:
            attacks.append(("", part[:-1] + start[0]))  # the beginning within the repetition: an escaped quote
    if repeats:
        attacks += [(start, pump) for start in ("", *itertools.islice(starts, 4)) for pump in COMMON_PUMPS]
    return [(*attack, END) for attack in dict.fromkeys(attacks)]


def _find_repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield texts that match up to a repetition, each with texts that match its body."""
    for code, value in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if value[1] is codes.MAXREPEAT or value[1] >= LONG_REPEAT:
                yield from ((before, _build_sample(value[2], choice)) for choice in range(2))
            yield from _find_repeats(value[2], before)
        else:
            for branch in _list_branches(code, value):
                yield from _find_repeats(branch, before)
        before += _build_sample([(code, value)], 0)


def _list_branches(code: Any, value: Any) -> list[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.ATOMIC_GROUP:
        return [value]
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


def _build_sample(tree: Any, choice: int) -> str:
    """Return a text that a part of an expression matches; `choice` selects among alternatives."""
    parts = list[str]()
    for code, value in tree:
        if code is codes.LITERAL:
            parts.append(chr(value))
        elif code is codes.IN:
            parts.append(_choose_char(value, choice))
        elif code in (codes.ANY, codes.NOT_LITERAL):
            parts.append("b" if value != ord("b") else "c")
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            parts.append(_build_sample(value[2], choice) * max(value[0], choice % 2))
        elif (branches := _list_branches(code, value)) and code not in (codes.ASSERT, codes.ASSERT_NOT):
            parts.append(_build_sample(branches[choice % len(branches)], choice))
    return "".join(parts)


def _choose_char(items: Any, choice: int) -> str:
    chars = [char for char in SAMPLE_CHARS if _matches_class(items, char)]
    first = (chr(value if code is codes.LITERAL else value[0]) for code, value in items if code in LITERAL_CODES)
    return chars[choice % len(chars)] if chars else next(first, "")


LITERAL_CODES = (codes.LITERAL, codes.RANGE)
CATEGORIES: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdigit,
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    codes.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    codes.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    codes.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _matches_class(items: Any, char: str) -> bool:
    is_negated = any(code is codes.NEGATE for code, _ in items)
    return is_negated != any(
        (code is codes.LITERAL and ord(char) == value)
        or (code is codes.RANGE and value[0] <= ord(char) <= value[1])
        or (code is codes.CATEGORY and CATEGORIES[value](char))
        for code, value in items
    )
