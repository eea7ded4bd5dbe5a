"""Recognize links that share a page on a social network, by mail, or by messenger."""

import re
from itertools import repeat

from sanderling.html.parser import Element

match_share_url = re.compile(  # share URLs as documented by the services
    r"(?:https?:)?//(?:[\w-]+\.)?(?:facebook\.com/(?:sharer|share\.php|(?:v[\d.]+/)?dialog/(?:share|send|feed))|"
    r"(?:twitter|x)\.com/(?:intent|share|home/?\?status=)|"
    r"linkedin\.com/(?:sharearticle|sharing|cws/share|feed/?\?shareactive)|"
    r"pinterest(?:\.\w{2,3}){1,2}/pin(?:/create|-builder)|reddit\.com/(?:r/\w+/)?submit|"
    r"tumblr\.com/(?:widgets/)?share|whatsapp\.com/send/?\?(?!(?:[^#]*&)?phone=\+?\d)|wa\.me/\?|"
    r"(?:t|telegram)\.me/share|bsky\.app/intent|threads\.(?:net|com)/intent|"
    r"xing\.com/(?:spi/shares|app/user|social/share)|getpocket\.com/(?:save|edit)|flipboard\.com/bookmarklet|"
    r"ycombinator\.com/submitlink|(?:vk\.com|vkontakte\.ru)/share|ok\.ru/(?:offer|dk\?[^#]*share)|"
    r"line\.me/(?:r/(?:msg|share)|lineit|social-plugin)|hatena\.ne\.jp/(?:entry|add\?)|weibo\.com/share|"
    r"addtoany\.com/(?:share|add_to)|buffer(?:app)?\.com/add|digg\.com/submit|instapaper\.com/(?:edit|hello2)\?|"
    r"evernote\.com/clip\.action|blogger\.com/blog-this|teams\.microsoft\.com/share)|"
    r"(?:https?:)?//[\w.-]+/share/?\?(?:[^#]*&)?(?:text|url)=|"  # Mastodon on any host, and others
    r"mailto:\?|sms:[?&;]|whatsapp://send/?\?(?!(?:[^#]*&)?phone=\+?\d)|fb-messenger://share|tg://msg|viber://forward",
    re.IGNORECASE | re.ASCII,
).match
SHARE_URL_SUBSTRINGS = (  # each share URL contains one: a prefilter for the whole page
    "/shar", "/intent", "/send", "/submit", "/pin/create", "/pin-builder", "dialog/", "com/home", "?shareactive",
    "wa.me/?", "app/user", "pocket.com/", "/bookmarklet", "ok.ru/", "/r/msg", "/lineit", "/social-plugin",
    "hatena.ne.jp/", ".com/add", "instapaper.com/", "/clip.action", "/blog-this", "mailto:?", "sms:?", "sms:&", "sms:;",
    "tg://msg", "viber://",
)  # fmt: skip


def is_share_link(href: str) -> bool:
    return match_share_url(href.lstrip()) is not None


def find_share_links(links: list[Element]) -> list[Element]:
    hrefs = "\n".join(filter(None, map(Element.attr, links, repeat("href")))).lower()
    if not any(map(hrefs.__contains__, SHARE_URL_SUBSTRINGS)):
        return []
    return [link for link in links if is_share_link(link.attr("href") or "")]
