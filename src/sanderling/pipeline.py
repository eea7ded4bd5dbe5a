"""The whole flow on one screen; the only place where loops close."""
