"""From pages of one template to a table."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.html.parser import Document, parse_html
from sanderling.templates.field_extraction import Field, learn_fields, read_fields

GOODS = [("Red chair", "€ 49.90", "2024-01-05", "Oak"), ("Blue table", "€ 120.00", "2024-02-11", "Pine"),
         ("Lamp", "€ 9.50", "2023-12-24", "Steel"), ("Green sofa", "€ 640.00", "2024-03-02", "Beech")]  # fmt: skip


def product(name: str, price: str, date: str, wood: str, extra: str = "") -> Document:
    return parse_html(
        f"""<title>{name} - Shop</title><body><nav><ul><li>Home</li></ul></nav>
        <main><div class="product p17"><h1>{name}</h1><span class="price">{price}</span>
        <p>Since <i class=x><b>{date}</b></i></p><dl><dt>Wood:</dt><dd>{wood}</dd></dl>{extra}
        <p class="ship">Free shipping</p></div></main><footer>{name} footer</footer>""".encode()
    )


def fields() -> list[Field]:
    return learn_fields([product(*good) for good in GOODS])


def test_what_pages_fill_in_anew_becomes_a_column() -> None:
    assert {"title", "h1", "price", "wood"} <= {field.name for field in fields()} | {"h1"}
    row = dict(zip([field.name for field in fields()], read_fields(product(*GOODS[0]), fields()), strict=True))
    assert row["title"] == "Red chair - Shop"
    assert row["price"] == "€ 49.90"
    assert row["wood"] == "Oak"
    assert "2024-01-05" in row.values()


def test_what_is_the_same_everywhere_is_no_column() -> None:
    values = read_fields(product(*GOODS[0]), fields())
    assert not any("shipping" in value or "Home" in value for value in values)


def test_navigation_and_footers_are_no_columns() -> None:
    assert not any("footer" in field.xpath or "nav" in field.xpath for field in fields())


def test_a_label_that_is_another_on_each_page_is_no_column() -> None:
    pages = [
        product(*good, extra=f"<ul><li><dl><dt>{label}</dt></dl></ul>")
        for good, label in zip(GOODS, "abcd", strict=True)
    ]
    assert not {"a", "b", "c", "d"} & {value for page in pages for value in read_fields(page, learn_fields(pages))}


def test_a_field_is_found_on_a_page_that_was_not_learned_from() -> None:
    page = product("Bench", "€ 75.00", "2025-01-01", "Ash", extra="<p class=note>New!</p>")
    row = dict(zip([field.name for field in fields()], read_fields(page, fields()), strict=True))
    assert (row["price"], row["wood"]) == ("€ 75.00", "Ash")


def test_a_field_that_a_page_lacks_is_empty() -> None:
    values = read_fields(parse_html(b"<title>Nothing</title><body><p>here"), fields())
    assert values[0] == "Nothing"
    assert set(values[1:]) == {""}


def test_xpath_and_css_of_a_field_are_shown() -> None:
    price = next(field for field in fields() if field.name == "price")
    assert price.css.endswith("div.product > span.price")
    assert price.xpath.endswith("span[contains(concat(' ', normalize-space(@class), ' '), ' price ')]")
    wood = next(field for field in fields() if field.name == "wood")
    assert (wood.css, wood.xpath) == ("", '//dt[normalize-space()="Wood:"]/following-sibling::dd[1]')


def test_one_page_has_no_fields_because_nothing_varies() -> None:
    assert learn_fields([product(*GOODS[0])]) == []
    assert learn_fields([]) == []


def declaring(n: int) -> Document:
    return parse_html(
        f"""<title>P{n}</title><body><script type="application/ld+json">{{"@graph": [
        {{"@type": "Organization", "name": "Shop"}},
        {{"@type": "Product", "name": "Chair {n}", "offers": {{"price": {n}.5}}, "color": ["red", "c{n}"]}}]}}</script>
        <main><p class=intro>Text {n}</p></main>""".encode()
    )


def test_declared_values_are_columns_named_by_their_property() -> None:
    found = learn_fields([declaring(n) for n in range(4)])
    row = dict(zip([field.name for field in found], read_fields(declaring(9), found), strict=True))
    assert {"name": "Chair 9", "price": "9.5", "color": "red, c9", "intro": "Text 9"}.items() <= row.items()
    assert "Shop" not in row.values()
    assert [field.declared for field in found if field.name == "price"] == ["Product offers.price"]


def test_texts_that_a_place_repeats_are_a_list() -> None:
    def tagged(*tags: str) -> Document:
        return product("Chair", "€ 1.00", "", "Oak", f"<ul class=tags>{''.join(f'<li>{tag}' for tag in tags)}</ul>")

    found = learn_fields([tagged("red", "old"), tagged("blue"), tagged("green", "new", "big")])
    row = dict(zip([field.name for field in found], read_fields(tagged("a", "b"), found), strict=True))
    assert row["tags"] == "a, b"


@settings(max_examples=30)
@given(st.lists(st.text(alphabet="<>abc=' \"/pdtdivh1", max_size=60), min_size=2, max_size=4))
def test_any_pages_give_some_table(bodies: list[str]) -> None:
    documents = [parse_html(body.encode()) for body in bodies]
    found = learn_fields(documents)
    for document in documents:
        assert len(read_fields(document, found)) == len(found)
