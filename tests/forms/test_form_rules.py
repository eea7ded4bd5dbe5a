"""Which forms are sent, and what their fields are for."""

import pytest
from benchmarks.lib.form_databases import DEVELOPMENT, HELD_OUT, TRIPWIRES

from sanderling.forms.form_rules import find_refusal, get_default, is_choice
from sanderling.html.form_fields import PageForm, extract_forms
from sanderling.html.parser import parse_html

URL = "https://a.test/"


def read_forms(body: str) -> list[PageForm]:
    return list(extract_forms(parse_html(body.encode()), URL, URL))


def test_tripwires_are_refused_and_databases_are_not() -> None:
    forms = read_forms(TRIPWIRES)
    assert len(forms) == 12
    assert all(find_refusal(form, "search") for form in forms)
    for site in (*DEVELOPMENT, *HELD_OUT):
        (form,) = read_forms(site.form)
        assert find_refusal(form, "search") == "", site.name


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<form method=post><select name=a><option>1<option>2</select></form>", "method post: needs a recipe"),
        ("<form><input type=password name=p></form>", "password field"),
        ("<form><textarea name=q></textarea></form>", "textarea field"),
        ("<form><input type=hidden name=_token value=1><input name=q></form>", "token field"),
        ("<form class='newsletter-form'><input name=who></form>", "contact form"),
        ("<form action=/login><input name=who></form>", "login form"),
        ("<form><input name=first_name></form>", "contact field"),
        ("<form><input name=q><button>Delete</button></form>", "changes something: delete"),
        ("<form><input type=hidden name=op value=remove><select name=a><option>1<option>2</select></form>",
         "changes something: op=remove"),
        ("<form action=/x?action=logout><input name=q></form>", "changes something: action=logout"),
        ("<form><input name=amount></form>", "text field that is not recognized as a search"),
        ("<form><input type=hidden name=a value=1></form>", "nothing to choose"),
    ],
)  # fmt: skip
def test_refusals(body: str, reason: str) -> None:
    (form,) = read_forms(body)
    assert find_refusal(form, "search") == reason


def test_search_boxes_need_the_search_mode() -> None:
    (form,) = read_forms("<form><input name=q></form>")
    assert find_refusal(form, "select") == "text field: needs --forms search"
    assert find_refusal(form, "search") == ""


def test_presentation_is_no_choice_and_pages_are_large() -> None:
    (form,) = read_forms(
        "<form><select name=sort><option>a<option>b</select><select name=per_page><option>10<option>50</select>"
        "<select name=cat><option value=''>any<option>x</select></form>"
    )
    assert [field.name for field in form.fields if is_choice(field)] == ["cat"]
    assert get_default(form.fields[1]) == "50"
