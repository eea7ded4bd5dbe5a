import pytest

from sanderling.html.parser import parse_html
from sanderling.monitor.page_values import IN_STOCK, OUT_OF_STOCK, PageValues, extract_page_values, parse_number

LD = '<script type="application/ld+json">{"@type":"Product","offers":[{"price":"1299.00","priceCurrency":"EUR",'
LD += '"availability":"https://schema.org/OutOfStock"}]}</script><p>from $5.00</p>'
MICRODATA = '<div itemscope><span itemprop="price" content="9.99">9,99</span><meta itemprop="priceCurrency"'
MICRODATA += ' content="USD"><link itemprop="availability" href="https://schema.org/InStock"></div>'
META = '<meta property="product:price:amount" content="12.50"><meta property="product:price:currency" content="GBP">'


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,299.00 €", 1299.0), ("1.299,00 €", 1299.0), ("CHF 1'299.50", 1299.5), ("12,5", 12.5), ("1,299", 1299.0),
     ("1 299,00 kr", 1299.0), ("-4.5", -4.5), ("1.234.567", 1234567.0), ("none", None), ("0,125", 0.125)],
)  # fmt: skip
def test_number_in_local_notation(text: str, number: float | None) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("page", "values"),
    [
        (LD, PageValues(1299.0, "EUR", OUT_OF_STOCK)),
        (MICRODATA, PageValues(9.99, "USD", IN_STOCK)),
        (META, PageValues(12.5, "GBP", "")),
        ("<p>Lamp</p><p>129,00 €</p><p>Nicht auf Lager</p>", PageValues(129.0, "EUR", OUT_OF_STOCK)),
        ("<p>Nothing to buy here</p>", PageValues()),
        ('<script type="application/ld+json">{"price": [</script>', PageValues()),
    ],
)
def test_values_of_a_page(page: str, values: PageValues) -> None:
    assert extract_page_values(parse_html(page.encode())) == values
