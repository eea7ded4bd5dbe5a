"""Rendering of pages that are built by scripts.

    RenderingLoop (in the worker)  ->  Renderer  -- socket -->  browser process: Chromium, one context per page
          ^                                                        |
          +------------- every request of a page ------------------+

The browser has no network. Its requests go through the fetch loop: robots.txt, crawl delay, address guard, limits.
Why: docs/decisions/0025-javascript-rendering.md.
"""
