"""Post rows to a webhook, signed as Standard Webhooks specifies. A message that was not confirmed is sent again."""

import json
import time

from sanderling.config.redact import redact_password
from sanderling.errors import SinkUnavailable
from sanderling.export.sink import SinkBatch, SinkOptions
from sanderling.monitor.delivery import post_webhook, validate_target

ROWS_PER_MESSAGE = 50


class WebhookSink:
    """A URL that receives `{"since": ..., "until": ..., "rows": [...]}`.

    The header `webhook-id` is the same when a message is sent again; `visit` identifies a row.
    """

    def __init__(self, options: SinkOptions) -> None:
        self.target, self.key = validate_target(options.target), options.signing_key

    def load_cursor(self) -> int | None:
        return None

    def write_batch(self, batch: SinkBatch) -> None:
        """Post the rows in messages of limited size, in order."""
        for start in range(0, len(batch.rows), ROWS_PER_MESSAGE):
            rows = batch.rows[start : start + ROWS_PER_MESSAGE]
            body = json.dumps({"since": batch.since, "until": batch.until, "rows": rows}).encode()
            error = post_webhook(self.target, f"{batch.key}-{start}", body, self.key, int(time.time()))
            if error:
                raise SinkUnavailable(f"{redact_password(self.target)} did not accept rows: {error}")

    def close(self) -> None:
        """Do nothing: each message has a connection of its own."""
