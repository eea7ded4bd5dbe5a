"""The crawled site and its application, as in the tests of the web app."""

from tests.web.conftest import app_state, client, crawled_site  # noqa: F401
