"""Crawl sites from asyncio code, each into its own collection: crawl_async.py FOLDER URL [URL...]."""

import asyncio
import sys
from pathlib import Path

import sanderling


async def crawl(folder: Path, url: str) -> None:
    async with sanderling.open_async(folder, sanderling.Settings.from_environment()) as collection:
        run = await collection.crawl(url, limit=100)
        async for page in run:
            print(f"{folder.name}: {page.url}")


async def main(parent: Path, urls: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        for number, url in enumerate(urls, 1):
            group.create_task(crawl(parent / f"site-{number}", url))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
