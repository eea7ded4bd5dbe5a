"""What a page brings along, spelled as it is compared."""

import re

from hypothesis import given
from hypothesis import strategies as st

from sanderling.pages.assets import picture

BUILT = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}|\d{9,}", re.IGNORECASE)  # what is meant; slow on long runs


@given(st.text("ABCdef019/-z", max_size=60))
def test_tokens_leave_the_name_of_a_picture(name: str) -> None:
    assert picture(f"/x/{name}.png") == BUILT.sub("", f"/x/{name}.png").rpartition("//")[2]


def test_a_long_run_of_letters_is_read_once() -> None:
    run = "A" * 2_000_000
    assert picture(run) == run  # in no time: what looked ahead from each letter took hours
