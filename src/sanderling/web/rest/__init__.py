"""The HTTP API, version 1: operations with typed parameters and answers, described by a generated OpenAPI document.

routes -> operation (authentication, parsing, errors) -> page_operations, status_operations, crawl_operations,
watch_operations, event_streams
"""
