"""Crawlee for Python with its parsel crawler, as its guide shows it, with the concurrency let loose."""

import asyncio
import logging
import os

from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient


async def main() -> None:
    crawler = ParselCrawler(
        configuration=Configuration(purge_on_start=True),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=32, desired_concurrency=32, max_concurrency=64),
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        await context.push_data({"url": context.request.url, "title": context.selector.css("title::text").get()})
        await context.enqueue_links()

    await crawler.run([os.environ["START_URL"]])


logging.disable(logging.WARNING)
asyncio.run(main())
