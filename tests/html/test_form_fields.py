"""Forms of a page: fields, values, defaults."""

from sanderling.html.form_fields import PageForm, extract_forms, pack_form_page, unpack_form_page
from sanderling.html.parser import parse_html

URL = "https://a.test/dir/page?old=1"


def read_form(body: str) -> PageForm:
    (form,) = extract_forms(parse_html(body.encode()), URL, URL)
    return form


def test_fields_values_and_defaults() -> None:
    form = read_form(
        "<form action='find#top'><label for=c>Kind</label>"
        "<select name=cat id=c><option value=''>Any<option value=1>"
        "One<option disabled>Two<option selected>Three</select><input type=radio name=r value=a>"
        "<input type=radio name=r"
        " value=b checked><input type=checkbox name=f><input type=hidden name=h value=x><input name=q>"
        "<input name=off disabled><button name=go value=1>Go</button><button name=other value=2>Other</button></form>"
    )
    assert (form.action, form.method) == ("https://a.test/dir/find", "get")
    found = {field.name: (field.kind, field.values, field.default) for field in form.fields}
    assert found == {
        "cat": ("choice", ["", "1", "Three"], "Three"),
        "r": ("choice", ["a", "b"], "b"),
        "f": ("flag", ["on"], None),
        "h": ("hidden", [], "x"),
        "q": ("text", [], ""),
        "go": ("submit", [], "1"),
        "other": ("submit", [], None),
    }
    assert "Kind" in form.fields[0].label


def test_fields_outside_of_the_form() -> None:
    form = read_form("<form id=f></form><input form=f name=a><input name=b>")
    assert [field.name for field in form.fields] == ["a"]
    table = read_form("<table><form action=/x><tr><td><select name=s><option>1</select></form></table>")
    assert [field.name for field in table.fields] == ["s"]


def test_empty_action_leads_to_the_page_and_others_are_ignored() -> None:
    assert read_form("<form><input name=q></form>").action == URL
    assert not list(extract_forms(parse_html(b"<form action='mailto:a@b.test'><input name=q></form>"), URL, URL))


def test_invisible_text_fields_are_not_filled_in() -> None:
    assert read_form("<form><input name=trap style='display: none'></form>").fields[0].kind == "hidden"


def test_ranges_and_suggestions() -> None:
    form = read_form(
        "<form><input type=date name=d min=2020-01-01 max=2020-02-01><input name=s list=l><datalist id=l>"
        "<option value=x></datalist></form>"
    )
    assert (form.fields[0].kind, form.fields[0].minimum, form.fields[0].maximum) == ("date", "2020-01-01", "2020-02-01")
    assert form.fields[1].values == ["x"]


def test_packed_page_has_forms_and_lines() -> None:
    packed = pack_form_page(parse_html(b"<p>First line<p>Second<form><input name=q></form>"), URL, URL)
    page = unpack_form_page(packed)
    assert page.lines[:2] == ["First line", "Second"]
    assert [form.action for form in page.forms] == [URL]
    assert unpack_form_page(b"").forms == []
