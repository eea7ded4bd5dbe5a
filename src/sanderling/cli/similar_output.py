"""Print similar pages, questions about more pages, and a table of fields."""

import csv
import sys
from collections.abc import Sequence

from sanderling.api.similarity import FieldTable, Question, SimilarPage, SimilarPages, open_field_table
from sanderling.cli.arguments import CommandCall, print_json, print_message
from sanderling.terminal import strip_control_characters


def print_result(call: CommandCall, found: SimilarPages, shown_urls: set[str]) -> None:
    new = [page for page in found.pages if page.url not in shown_urls]
    is_first = not shown_urls
    shown_urls.update(page.url for page in new)
    if call.args.export:
        export_fields(call, new)
        return
    if is_first and not call.json:
        for shared in found.explanation:
            print_message(
                call, f"{shared.weight:5.0%} of the weight, {shared.page_count} pages: {', '.join(shared.names)}"
            )
    for page in new:
        if call.json:
            shown = {"url": page.url, "probability": page.probability, "from": page.source}
            print_json(shown | ({"shared": list(page.shared)} if call.args.explain else {}))
        else:
            print(f"{page.probability:.2f}  {page.source:<5}  {page.url}", flush=True)
    if not new:
        print_message(call, "no similar page found" if not call.args.follow else "nothing new")
    if is_first:
        print_questions(call, found.questions)


def print_questions(call: CommandCall, questions: Sequence[Question]) -> None:
    """Print the pages whose answer would tell most; the answer of a single sample is provisional."""
    if call.json:
        for question in questions:
            print_json({"question": question.url, "title": question.title})
    elif questions and len(call.args.url) == 1 and not call.args.saved:
        print_message(
            call,
            "One sample is provisional. Are these of the same type? Add them as samples, or with --not:",
        )
        for question in questions:
            print_message(call, f"  {question.url}  {strip_control_characters(question.title)}")


def export_fields(call: CommandCall, pages: Sequence[SimilarPage]) -> None:
    with open_field_table(call.collection, pages) as table:
        for field in table.fields:
            places = filter(None, (field.declared, field.css, field.xpath))
            print_message(call, f"{field.name}: {'   '.join(places)}")
        _write_table(call, table)


def _write_table(call: CommandCall, found: FieldTable) -> None:
    names = [field.name for field in found.fields]
    if call.args.export == "json":
        for url, values in found.rows:
            print_json({"url": url, **dict(zip(names, values, strict=True))})
        return
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["url", *names])
    for url, values in found.rows:
        table.writerow([url, *values])
