"""Watches: pages and sites that a user monitors, their conditions, values and notifications.

`watch` defines and validates a watch, `watch_store` stores everything in `watch.db`. `evaluate` compares each new
version with the last good version, and stores an event in the same transaction as its progress. `outbox` groups events
into messages; `delivery` sends them.
"""
