"""Run crawls and refreshes: context, batch pipeline, coordinator, sessions."""
