"""Cases from web platforms: significant changes and noise."""

# ruff: noqa: E501 - a case reads best on one line

import re
from dataclasses import replace

import pytest
from tests.support.whole_pages import BUILDERS, CLAUSES, Builder, Page, semantic, soup

from sanderling.changes.classify import ChangeKind, PageChange, compare_fingerprints
from sanderling.fingerprint.build import fingerprint_page
from sanderling.fingerprint.fast.compare import PreviousVersion, build_comparison_fingerprints
from sanderling.fingerprint.model import encode_fingerprint
from sanderling.html.parser import parse_html

RELATED = "<h3>Related articles</h3><ul>{0}</ul>"
ITEM = "<li><a href='/{0}'>{1}</a></li>"
FIRST = "".join(ITEM.format(n, t) for n, t in enumerate(("Lost tickets", "Fares for groups", "Dogs on board", "Fog")))
SECOND = "".join(
    ITEM.format(n, t) for n, t in enumerate(("Winter timetable", "Lost tickets", "Refunds", "Wheelchairs"))
)
COOKIES = """<div id="{0}"><div><p>We use cookies to make our site work, to measure how it is used and to show you
advertising. You can accept all of them or choose.</p><button>Settings</button><button>Reject</button>
<button>Accept all</button></div></div>"""
CHOICES = """<div><h2>Privacy centre</h2><p>When you visit any site, it may store or retrieve information on your
browser, mostly in the form of cookies. Because we respect your rights, you can choose not to allow some of them.</p>
<h3>Strictly necessary</h3><p>These are needed for the site to work and cannot be switched off in our systems.</p>
<h3>Performance</h3><p>These let us count visits and sources of traffic, so that we can measure what we do.</p>
<button>Confirm my choices</button></div>"""
PROMO = "<div><p>{0}</p><a href='/sale'>{1}</a></div>"
TESTIMONIAL = "<div class='quote'><p>{0}</p><p>{1}</p></div>"

Case = tuple[str, str, str, str]

NOISE: tuple[Case, ...] = (
    # tokens
    ("a nonce", "head", '<script nonce="a81b">var s={"nonce":"4f1c"}</script>',
     '<script nonce="c93d">var s={"nonce":"b77e"}</script>'),
    ("a comment of a cache", "end", "<!-- Cached 2026-05-01 10:00 by Supercache in 0.31 s -->",
     "<!-- Cached 2026-05-02 11:20 by Supercache in 0.18 s -->"),
    ("a form's build id", "foot",
     '<form><input type="hidden" name="form_build_id" value="form-Xa1"><input name="q" placeholder="Search"></form>',
     '<form><input type="hidden" name="form_build_id" value="form-Zb2"><input name="q" placeholder="Search"></form>'),
    ("a build id and data for scripts", "end",
     '<script id="__NEXT_DATA__" type="application/json">{"buildId":"k1Jx","props":{"views":12}}</script>'
     '<script src="/_next/static/k1Jx/_buildManifest.js"></script>',
     '<script id="__NEXT_DATA__" type="application/json">{"buildId":"p9Qz","props":{"views":18}}</script>'
     '<script src="/_next/static/p9Qz/_buildManifest.js"></script>'),
    ("hydration data", "end", "<script>window.__NUXT__=(function(a,b){return {d:a}}(1,'x'))</script>",
     "<script>window.__NUXT__=(function(a,b,c){return {d:a,e:c}}(2,'y',3))</script>"),
    ("random ids", "within",
     '<div><button id="acc-91f" aria-controls="pan-91f">More</button><div id="pan-91f">All of it.</div></div>',
     '<div><button id="acc-c07" aria-controls="pan-c07">More</button><div id="pan-c07">All of it.</div></div>'),
    ("hashed class names", "within", '<div class="css-1q2w3e sc-aXZVg"><span class="hJkL">A word.</span></div>',
     '<div class="css-9o8i7u sc-bYcUh"><span class="qWeR">A word.</span></div>'),
    ("an obfuscated address", "within",
     '<p>Write to <a href="/cdn-cgi/l/email-protection#a1b2c3" data-cfemail="a1b2c3">[email&#160;protected]</a>.</p>',
     '<p>Write to <a href="/cdn-cgi/l/email-protection#77e8d9" data-cfemail="77e8d9">[email&#160;protected]</a>.</p>'),
    ("a challenge script", "end", "<script>(function(){window.__CF$cv={r:'8a1',t:'MTc='}})();</script>",
     "<script>(function(){window.__CF$cv={r:'9b2',t:'MTg='}})();</script>"),
    ("a tracking pixel", "end", '<img src="https://t.example/p.gif?r=123" width="1" height="1" alt="">',
     '<img src="https://t.example/p.gif?r=987" width="1" height="1" alt="">'),
    ("a tracking pixel that came", "end", "", '<noscript><img src="https://t.example/tr?id=1" width="1"></noscript>'),
    ("other languages named in the head", "head", '<link rel="alternate" hreflang="de" href="/de">',
     '<link rel="alternate" hreflang="de" href="/de"><link rel="alternate" hreflang="fr" href="/fr">'),
    ("data about the page", "head", '<script type="application/ld+json">{"dateModified":"2026-05-01"}</script>',
     '<script type="application/ld+json">{"dateModified":"2026-05-09"}</script>'),
    ("a session in links", "within", '<p>See the <a href="/fares?sid=19af">fares</a> first.</p>',
     '<p>See the <a href="/fares?sid=77be">fares</a> first.</p>'),
    # counters and times
    ("how many found it helpful", "after", "<div><p>Was this article helpful?</p><span>12 out of 34 found this helpful</span></div>",
     "<div><p>Was this article helpful?</p><span>13 out of 36 found this helpful</span></div>"),
    ("reading time", "before", "<p>4 min read</p>", "<p>5 min read</p>"),
    ("reading time with a dot", "before", "<span>Reading time: 4 minutes</span>", "<span>Reading time: 5 minutes</span>"),
    ("days since the last update", "before", "<p>Last updated 3 days ago</p>", "<p>Last updated 4 days ago</p>"),
    ("a date of update alone", "before", "<p>Last updated: 5 May 2026</p>", "<p>Last updated: 9 May 2026</p>"),
    ("a year of copyright", "foot", "<p>© 2025 Harbour Company</p>", "<p>© 2026 Harbour Company</p>"),
    ("a year of copyright of all rights", "end", "<p>Copyright 2025 Harbour Company. All rights reserved.</p>",
     "<p>Copyright 2026 Harbour Company. All rights reserved.</p>"),
    ("votes", "after", "<div><span>128</span> <span>likes</span></div>", "<div><span>131</span> <span>likes</span></div>"),
    ("comments", "after", "<h3>3 Comments</h3>", "<h3>5 Comments</h3>"),
    ("people who read now", "side", "<p>41 people are reading this</p>", "<p>57 people are reading this</p>"),
    ("a stock ticker", "top", "<div><span>HRBR</span> <span>12.41</span> <span>+0.3%</span></div>",
     "<div><span>HRBR</span> <span>12.57</span> <span>+1.1%</span></div>"),
    ("a count of jobs", "foot", "<a href='/jobs'>Jobs (14)</a>", "<a href='/jobs'>Jobs (17)</a>"),
    ("the weather", "top", "<span>Harbour 14°C</span>", "<span>Harbour 17°C</span>"),
    ("today", "top", "<span>Friday, 1 May 2026</span>", "<span>Saturday, 2 May 2026</span>"),
    ("items in the cart", "top", "<a href='/cart'>Cart (0)</a>", "<a href='/cart'>Cart (2)</a>"),
    # boilerplate that rotates
    ("related articles aside", "side", RELATED.format(FIRST), RELATED.format(SECOND)),
    ("recently viewed", "side", "", "<h3>Recently viewed articles</h3><ul>" + FIRST + "</ul>"),
    ("a promotion bar", "top", PROMO.format("Summer sale: two for one on all island trips this week", "Book now"),
     PROMO.format("Free parking at the harbour for everybody in August", "Find out more")),
    ("a promotion bar that came", "top", "",
     PROMO.format("Free parking at the harbour for everybody in the month of August", "Find out more")),
    ("an announcement", "top", "", "<div role='alert'><p>Boats to the northern islands run late today.</p></div>"),
    ("an announcement without a role", "top", "", "<div><div><p>Boats to the northern islands run late because of the strong wind.</p></div></div>"),
    ("an announcement with a heading", "top", "", "<div><h2>Service notice</h2><p>Boats run late because of the strong wind.</p></div>"),
    ("a question where one is", "top", "",
     "<div><h3>Are you in the United States?</h3><p>Choose your country to see what is sold there.</p><span>Stay here</span></div>"),
    ("a promotion with a price", "top", "", "<div><span>Three months for $1.99, only this week</span></div>"),
    ("prices of stocks", "top", "<div><span>HRBR $64.29</span></div><div>FRRY $18.36</div>", "<div><span>HRBR $64.73</span></div><div>FRRY $18.75</div>"),
    ("free delivery", "top", "<div>Free delivery from €50</div>", "<div>Free delivery from €40</div>"),
    ("a new entry in the menu", "top", "<ul>" + FIRST + "</ul>", "<ul>" + FIRST + ITEM.format(9, "Gift cards") + "</ul>"),
    ("another social network", "foot", "<ul>" + FIRST + "</ul>", "<ul>" + FIRST + ITEM.format(9, "Bluesky") + "</ul>"),
    ("one more link in a row of links", "foot", "<p><a href='/a'>Facebook</a> <a href='/b'>Instagram</a></p>",
     "<p><a href='/a'>Facebook</a> <a href='/b'>Instagram</a> <a href='/c'>TikTok</a></p>"),
    ("another testimonial", "side", TESTIMONIAL.format("The crossing was calm and the crew could not do enough.", "A. Reed"),
     TESTIMONIAL.format("We came for a day, stayed for a week and will be back soon.", "B. Lund")),
    ("a call to sign up", "end", "", "<div><h2>Ready to go?</h2><p>Create your free account today.</p><a href='/join'>Get started</a></div>"),
    ("another call", "end", "<div><h2>Ready to go?</h2><p>Create your free account today.</p><a href='/join'>Get started</a></div>",
     "<div><h2>See for yourself</h2><p>Talk to us about a ship of your own.</p><a href='/talk'>Book a talk</a></div>"),
    ("stories", "end", "<div><h2>Stories</h2><article><h3><a href='/1'>A new boat</a></h3><p>It comes in spring.</p></article></div>",
     "<div><h2>Stories</h2><article><h3><a href='/2'>A seal on the pier</a></h3><p>It takes a rest.</p></article></div>"),
    ("a question about cookies whose answers are links", "end", "",
     "<div><h2>We value your privacy</h2><p>We use cookies to count visits.</p><a href='#'>Reject</a> <a href='#'>Accept all</a></div>"),
    ("a letter to subscribe to", "end", "", "<div><h3>Stay in touch</h3><p>Be the first to hear of news and offers.</p>"
     "<div><input type='email'><input type='submit' value='Sign up'></div></div>"),
    ("choices of cookies", "end", "", "<div><h2>Privacy centre</h2><h3>Necessary</h3><p>These are needed for the site to work.</p>"
     "<input type='checkbox'><h3>Statistics</h3><p>These let us count visits.</p><input type='checkbox'></div>"),
    ("a login", "top", "<a href='/login'>Log in</a> <a href='/register'>Register</a>", "<span>Hello, guest</span>"),
    ("a currency", "top", "<button>EUR €</button>", "<button>USD $</button>"),
    ("a currency to choose below the text", "end", "<div><div>EUR €</div></div>", "<div><div>USD $</div></div>"),
    ("a part of the world to choose", "end", "<div><div>Europe</div></div>", "<div><div>Asia</div></div>"),
    ("one more language", "foot", "<select><option>English</option><option>Deutsch</option></select>",
     "<select><option>English</option><option>Deutsch</option><option>Polski</option></select>"),
    ("headlines of the news", "side", RELATED.format("".join(f"<li><a href='/n{n}'>{t}</a></li>" for n, t in enumerate(
        ("New boat for the northern islands arrives in spring", "Harbour wall to be raised by half a metre",
         "Students travel free on all Sundays of May", "A seal takes a rest on the pier and stays")))),
     RELATED.format("".join(f"<li><a href='/m{n}'>{t}</a></li>" for n, t in enumerate(
        ("Council votes for a second slipway by the church", "Students travel free on all Sundays of May",
         "Fog keeps the fleet in the harbour for two days", "Old lighthouse opens its doors to visitors"))))),
    ("an advertisement", "side", "<div class='ad-slot'><a href='https://ads.example/1'>Boots for every weather</a></div>",
     "<div class='ad-slot'><a href='https://ads.example/2'>Win a week in the sun</a></div>"),
    # consent, chats, apps
    ("a banner of consent at the end", "end", "", COOKIES.format("cookie-banner")),
    ("a banner of consent with a name that says nothing", "end", "", COOKIES.format("x77")),
    ("a banner of consent at the top", "top", "", COOKIES.format("x78")),
    ("a centre of consent", "end", "", '<div id="onetrust-consent-sdk">' + COOKIES.format("q2") + CHOICES + "</div>"),
    ("a chat", "end", "", "<div class='launcher'><button>Chat with us</button><p>Hello! How can we help you today?</p></div>"),
    ("an app", "top", "", "<div><span>Get our app</span><a href='/app'>Open</a></div>"),
    ("a newsletter", "end", "", "<div class='c1'><h3>Stay in the loop</h3><p>Sign up and hear of offers before everybody else does.</p><form><input name='e' placeholder='E-mail'><button>Sign up</button></form></div>"),
    ("a question with a heading", "end", "",
     "<div><div><h2>Your privacy</h2><p>If you accept, you agree to what we store.</p></div><div><button>Accept</button></div></div>"),
    ("a note for those without scripts", "top", "<noscript>Please enable JavaScript to use all of this site.</noscript>", ""),
    ("a link below all", "end", "", "<p><a href='#top'>Back to the top of the page</a></p>"),
    ("a skip link", "top", "", "<a href='#content'>Skip to content</a>"),
    # buttons and anchors amid the text
    ("a permalink at a heading", "within", "<h2 id='r'>Refunds</h2>",
     "<h2 id='r'>Refunds<a class='headerlink' href='#r'>¶</a></h2>"),
    ("a hash at a heading", "within", "<h2 id='r'>Refunds</h2>", "<h2 id='r'><a href='#r'>#</a> Refunds</h2>"),
    ("a tooltip's title", "within", "<p>A <abbr title='International Maritime Organization'>IMO</abbr> rule.</p>",
     "<p>A <abbr title='The International Maritime Organization'>IMO</abbr> rule.</p>"),
    ("an open accordion", "within", "<details><summary>Dogs</summary><p>Dogs travel free.</p></details>",
     "<details open><summary>Dogs</summary><p>Dogs travel free.</p></details>"),
    ("a lazy picture", "within", '<p><img src="/a.jpg" alt="a pier"></p>',
     '<p><img loading="lazy" src="data:image/gif;base64,R0" data-src="/a.jpg" alt="a pier"></p>'),
    ("a picture on another server of the same", "within", '<p><img src="https://cdn1.x.example/i/a.jpg?w=300" alt="a pier"></p>',
     '<p><img src="https://cdn2.x.example/i/a.jpg?w=640" alt="a pier"></p>'),
    # the same words in other clothes
    ("curly quotes", "within", '<p>The "carrier" isn\'t liable.</p>', "<p>The “carrier” isn’t liable.</p>"),
    ("blanks that do not break", "within", "<p>A fee of 30 euros.</p>", "<p>A fee of 30&nbsp;euros.</p>"),
    ("soft hyphens", "within", "<p>Transportation company</p>", "<p>Trans&shy;portation com&shy;pany</p>"),
    ("letters of no width", "within", "<p>Transportation company</p>", "<p>Trans\u200bportation\u2060 com\ufeffpany\u200d</p>"),
    ("chances to break", "within", "<p>harbour@company.example</p>", "<p>harbour@<wbr>company.<wbr>example</p>"),
    ("dashes", "within", "<p>Open May – June</p>", "<p>Open May - June</p>"),
    ("dots", "within", "<p>And so on...</p>", "<p>And so on…</p>"),
    ("a composed letter", "within", "<p>Café on board</p>", "<p>Cafe\u0301 on board</p>"),
    ("breaks for paragraphs", "within", "<p>One rule.<br><br>Another rule.</p>", "<p>One rule.</p><p>Another rule.</p>"),
    ("a list for paragraphs", "within", "<p>One rule.</p><p>Another rule.</p>", "<ul><li>One rule.</li><li>Another rule.</li></ul>"),
    ("a table for a list of terms", "within", "<dl><dt>Fee</dt><dd>It is due at once.</dd></dl>",
     "<table><tr><td>Fee</td><td>It is due at once.</td></tr></table>"),
    ("another level of heading", "within", "<h2>Refunds</h2>", "<h3>Refunds</h3>"),
    ("an accordion", "within", "<h2>Refunds</h2><p>None is given.</p>",
     "<details><summary>Refunds</summary><div><p>None is given.</p></div></details>"),
    ("one more link on the same words", "within", "<p>See <a href='/fares'>the fares</a> and the table of fares.</p>",
     "<p>See <a href='/fares'>the fares</a> and the <a href='/fares'>table of fares</a>.</p>"),
    ("bold words", "within", "<p>No fare is paid back.</p>", "<p>No fare is <b>paid</b> back.</p>"),
    ("a number of a note", "within", "<p>A rule.<sup id='fnref:1'><a href='#fn:1'>1</a></sup></p>",
     "<p>A rule.<sup id='fnref:9'><a href='#fn:9'>1</a></sup></p>"),
)  # fmt: skip

SIGNIFICANT: tuple[Case, ...] = (
    ("a number in a clause", "within", "<p>Claims are made within 14 days of the journey.</p>",
     "<p>Claims are made within 10 days of the journey.</p>"),
    ("a date of effect", "before", "<p>Effective date: 1 May 2026</p>", "<p>Effective date: 1 June 2026</p>"),
    ("a date of effect in a sentence", "within", "<p>These terms are effective as of May 1, 2026.</p>",
     "<p>These terms are effective as of June 1, 2026.</p>"),
    ("a company's name", "within", "<p>Harbour Ltd is the carrier.</p>", "<p>Harbour Holdings Ltd is the carrier.</p>"),
    ("an address", "within", "<p>Harbour Ltd<br>12 Quay Street<br>Port</p>", "<p>Harbour Ltd<br>14 Pier Road<br>Port</p>"),
    ("a not that went", "within", "<p>We will not share it with others.</p>", "<p>We will share it with others.</p>"),
    ("a new item", "within", "<ul><li>Dogs</li><li>Cats</li></ul>", "<ul><li>Dogs</li><li>Cats</li><li>Parrots</li></ul>"),
    ("another target of a clause", "within", "<p>The <a href='/fares-2025'>table of fares</a> is part of it.</p>",
     "<p>The <a href='/fares-2026'>table of fares</a> is part of it.</p>"),
    ("another target of one of two clauses", "within",
     "<p>See <a href='/fares'>the fares</a> first.</p><p>The <a href='/fares'>table of fares</a> is part of it.</p>",
     "<p>See <a href='/fares'>the fares</a> first.</p><p>The <a href='/prices'>table of fares</a> is part of it.</p>"),
    ("one of two targets for the other", "within",
     "<p>See <a href='/fares'>the fares</a> and <a href='/rules'>the rules</a>, or <a href='/fares'>write</a>.</p>",
     "<p>See <a href='/fares'>the fares</a> and <a href='/rules'>the rules</a>, or <a href='/rules'>write</a>.</p>"),
    ("a cell", "within", "<table><tr><th>Adult</th><td>12.50</td></tr><tr><th>Child</th><td>6.00</td></tr></table>",
     "<table><tr><th>Adult</th><td>13.50</td></tr><tr><th>Child</th><td>6.00</td></tr></table>"),
    ("a price", "within", "<p>Day ticket: €25</p>", "<p>Day ticket: €27</p>"),
    ("an e-mail address", "within", "<p>Contact: <a href='mailto:a@h.example'>a@h.example</a></p>",
     "<p>Contact: <a href='mailto:b@h.example'>b@h.example</a></p>"),
    ("an e-mail address behind the same words", "within", "<p>You may <a href='mailto:a@h.example'>write to us</a>.</p>",
     "<p>You may <a href='mailto:b@h.example'>write to us</a>.</p>"),
    ("words in details", "within", "<details><summary>Dogs</summary><p>Dogs travel free.</p></details>",
     "<details><summary>Dogs</summary><p>Dogs pay half.</p></details>"),
    ("words in a list of terms", "within", "<dl><dt>Carrier</dt><dd>the ship</dd></dl>", "<dl><dt>Carrier</dt><dd>the owner</dd></dl>"),
    ("words in program text", "within", "<pre>retention = 30</pre>", "<pre>retention = 60</pre>"),
    ("words in a quotation", "within", "<blockquote>All fares are final.</blockquote>", "<blockquote>No fares are final.</blockquote>"),
    ("the last line", "after", "<p>Signed at Port.</p>", "<p>Signed at Bay.</p>"),
    ("a new last line", "after", "", "<p>Passengers of the night boat board an hour before it leaves.</p>"),
    ("a new short last line", "after", "", "<p>Written in Port.</p>"),
    ("a new first line", "before", "", "<p>A new version of these terms takes hold on the first of June.</p>"),
    ("words in Japanese", "within", "<p>予約の取消は出発の二日前まで無料です。</p>", "<p>予約の取消は出発の三日前まで無料です。</p>"),
    ("words in Arabic", "within", "<p>الإلغاء مجاني قبل يومين من المغادرة.</p>", "<p>الإلغاء مجاني قبل ثلاثة أيام من المغادرة.</p>"),
    ("words in Thai", "within", "<p>ยกเลิกฟรีก่อนออกเดินทางสองวัน</p>", "<p>ยกเลิกฟรีก่อนออกเดินทางสามวัน</p>"),
    ("a cookie listed in the text", "within", "<table><tr><td>_ga</td><td>2 years</td></tr></table>",
     "<table><tr><td>_ga</td><td>2 years</td></tr><tr><td>_fbp</td><td>3 months</td></tr></table>"),
    ("how long a cookie stays", "within", "<table><tr><td>_ga</td><td>Analytics</td><td>2 years</td></tr></table>",
     "<table><tr><td>_ga</td><td>Analytics</td><td>1 year</td></tr></table>"),
    ("a heading", "within", "<h2>Refunds</h2>", "<h2>Refunds and exchanges</h2>"),
    ("a new section", "within", "", "<h2>Drones</h2><p>Drones stay switched off while the boat is in the harbour.</p>"),
    ("a phone number", "within", "<p>Phone: +49 30 123456</p>", "<p>Phone: +49 30 654321</p>"),
    ("a version", "before", "<p>Version 3.1</p>", "<p>Version 3.2</p>"),
    ("hours", "within", "<p>Office open 9:00-17:00</p>", "<p>Office open 9:00-16:00</p>"),
    ("a partner in a list of links", "within",
     "<p>Our partners are:</p><ul><li><a href='https://a.example'>Alpha</a></li><li><a href='https://b.example'>Beta</a></li></ul>",
     "<p>Our partners are:</p><ul><li><a href='https://a.example'>Alpha</a></li><li><a href='https://b.example'>Beta</a></li>"
     "<li><a href='https://c.example'>Gamma</a></li></ul>"),
    ("a partner in a long list of links", "within", f"<p>Our partners are:</p><ul>{FIRST}</ul>",
     f"<p>Our partners are:</p><ul>{FIRST}{ITEM.format(9, 'Gamma')}</ul>"),
    ("another target in a long list of links", "within", f"<p>Our partners are:</p><ul>{FIRST}</ul>",
     f"<p>Our partners are:</p><ul>{FIRST}</ul>".replace("'/3'", "'/gamma'")),
    ("a short line amid links", "within", f"<ul>{FIRST}</ul><p>10. Retention</p><ul>{FIRST}</ul>",
     f"<ul>{FIRST}</ul><p>10. Deletion</p><ul>{FIRST}</ul>"),
    ("a percentage", "within", "<p>Interest of 5 % a year is due.</p>", "<p>Interest of 8 % a year is due.</p>"),
    ("a share of votes in a clause", "within", "<p>It takes 60 votes to change the rules.</p>", "<p>It takes 70 votes to change the rules.</p>"),
    ("a price beside the text", "beside", "<div>Price: $19.99</div>", "<div>Price: $29.99</div>"),
    ("a price above a button", "beside", "<div><span>€19.99</span><button>Add to basket</button></div>",
     "<div><span>€24.99</span><button>Add to basket</button></div>"),
    ("a price in letters for its currency", "beside", "<div>EUR 25</div>", "<div>EUR 35</div>"),
    ("a price in Thai", "beside", "<div>ราคา 250 บาท</div>", "<div>ราคา 350 บาท</div>"),
    ("a price in Chinese", "beside", "<div>售价 199 元</div>", "<div>售价 249 元</div>"),
    ("a price in Arabic", "beside", "<div>السعر: 25 دينار</div>", "<div>السعر: 35 دينار</div>"),
    ("a thing that was sold", "beside", "<div><span>In stock</span></div>", "<div><span>Sold out</span></div>"),
    ("a deadline beside the text", "beside", "<div>Deadline: 5 May</div>", "<div>Deadline: 9 May</div>"),
    ("a section beside the text", "beside", "<section><h2>Fees</h2><p>A fee of 25 euros is due.</p></section>",
     "<section><h2>Fees</h2><p>A fee of 35 euros is due.</p></section>"),
    ("a section that went", "beside", "<div><h2>Your rights</h2><p>You may withdraw within 14 days.</p></div>", ""),
    ("a section with a link in a sentence", "beside",
     "<section><h2>Fees</h2><p>A fee of 25 euros is due, see <a href='/fees'>our fees</a>.</p></section>",
     "<section><h2>Fees</h2><p>A fee of 35 euros is due, see <a href='/fees'>our fees</a>.</p></section>"),
    ("a section with an address", "beside",
     "<section><h2>Contact</h2><p>Harbour Ltd, 12 Quay Street</p><p><a href='mailto:a@h.example'>a@h.example</a></p></section>",
     "<section><h2>Contact</h2><p>Harbour Ltd, 14 Pier Road</p><p><a href='mailto:a@h.example'>a@h.example</a></p></section>"),
    ("a short article", "beside", "<article><p>Mended CVE-2026-1 in this release.</p></article>",
     "<article><p>Mended CVE-2026-2 in this release.</p></article>"),
    ("a row beside the text", "beside", "<table><tr><td>Weight</td><td>5 kg</td></tr></table>",
     "<table><tr><td>Weight</td><td>6 kg</td></tr></table>"),
    ("terms beside the text", "beside", "<div><dl><dt>Weight</dt><dd>5 kg</dd></dl></div>",
     "<div><dl><dt>Weight</dt><dd>6 kg</dd></dl></div>"),
    ("days in a clause", "within", "<p>Anything booked more than 3 days ago is final.</p>", "<p>Anything booked more than 5 days ago is final.</p>"),
)  # fmt: skip


def compare_pages(old: str, new: str) -> PageChange:
    """Compare two versions like a worker; assert that full fingerprints agree."""
    old_body, new_body = old.encode(), new.encode()
    fingerprints = build_comparison_fingerprints(
        parse_html(new_body), new_body, PreviousVersion(old_body, (parse_html(old_body).encoding or "").lower())
    )
    change = compare_fingerprints(fingerprints.before or b"", fingerprints.after or fingerprints.page or b"")
    full = compare_fingerprints(
        encode_fingerprint(fingerprint_page(parse_html(old_body))),
        encode_fingerprint(fingerprint_page(parse_html(new_body))),
    )
    assert (change.kinds, change.counts) == (full.kinds, full.counts)
    return change


def compare_case(builder: Builder, case: Case) -> PageChange:
    _, part, old, new = case
    return compare_pages(builder(Page().with_part(part, old)), builder(Page().with_part(part, new)))


def rename_classes(page: str, prefix: str) -> str:
    """Rename all classes, as a build does."""
    return re.sub(r"class=(['\"])([^'\"]*)\1", lambda match: f'class="{prefix}{len(match[2])}"', page)


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("case", NOISE, ids=[case[0] for case in NOISE])
def test_change_is_noise(case: Case, builder: Builder) -> None:
    assert ChangeKind.CONTENT not in compare_case(builder, case).kinds


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("case", SIGNIFICANT, ids=[case[0] for case in SIGNIFICANT])
def test_change_is_significant(case: Case, builder: Builder) -> None:
    assert ChangeKind.CONTENT in compare_case(builder, case).kinds


@pytest.mark.parametrize("builder", BUILDERS)
def test_white_space_class_names_and_entities_are_ignored(builder: Builder) -> None:
    page = builder(Page())
    others = (
        page.replace("><", ">\n    <"),
        re.sub(r"\s*\n\s*", "\n", page).replace("<p>", "<p>\n   "),
        page.replace("parent's", "parent&#8217;s").replace("don't", "don&rsquo;t"),
        page.replace("ä", "&auml;").replace("©", "&copy;"),
    )
    assert all(ChangeKind.CONTENT not in compare_pages(page, other).kinds for other in others)
    assert ChangeKind.CONTENT not in compare_pages(rename_classes(page, "css-1a"), rename_classes(page, "css-9z")).kinds


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize(
    "text",
    [
        (*CLAUSES[:4], CLAUSES[7], *CLAUSES[4:7], *CLAUSES[8:]),
        CLAUSES[:-1],
        (*CLAUSES, "Nobody boards without a ticket, however small the island is."),
        tuple(clause.replace("seven years", "ten years") for clause in CLAUSES),
    ],
    ids=["moved", "removed", "added", "changed"],
)
def test_changed_clause_is_significant(text: tuple[str, ...], builder: Builder) -> None:
    assert ChangeKind.CONTENT in compare_pages(builder(Page()), builder(Page(text=text))).kinds


def test_changed_clause_is_significant_next_to_a_changed_date() -> None:
    for builder in BUILDERS:
        old = Page(before="<p>Last updated: 5 May 2026</p>", within="<p>It costs 5 euros.</p>")
        new = Page(before="<p>Last updated: 9 June 2026</p>", within="<p>It costs 6 euros.</p>")
        assert compare_pages(builder(old), builder(new)).counts == {"changed": 1}


def test_changes_of_short_and_long_pages_are_significant() -> None:
    assert ChangeKind.CONTENT in compare_pages("<p>Closed until May.</p>", "<p>Closed until June.</p>").kinds
    long = tuple(f"{number}. {clause}" for number in range(100) for clause in CLAUSES)
    other = tuple(clause.replace("seven", "ten") if clause.startswith("50.") else clause for clause in long)
    for builder in (semantic, soup):
        assert compare_pages(builder(Page(text=long)), builder(Page(text=other))).counts == {"changed": 1}


def test_short_main_content_is_significant_and_a_large_menu_is_not() -> None:
    links = "".join(f"<div><a href='/{n}'>Entry number {n} of the menu of this site</a></div>" for n in range(200))
    old = Page(text=CLAUSES[:4], top=links)
    assert ChangeKind.CONTENT in compare_pages(soup(old), soup(replace(old, text=(*CLAUSES[:3], CLAUSES[5])))).kinds
    other = replace(old, top=links.replace("number 77", "sixty-six and eleven"))
    assert ChangeKind.CONTENT not in compare_pages(soup(old), soup(other)).kinds


INTRODUCTION = """<p>Below you find all annual reports of the Harbour Company. Please write to us for older ones, which are
kept on paper in our archive.</p>"""


def build_report_link(number: int) -> str:
    return f"<li><a href='/{number}.pdf'>Report of the year {1990 + number} as a file</a></li>"


@pytest.mark.parametrize("count", [6, 20, 38, 60])
@pytest.mark.parametrize(
    "page",
    [
        "<body><h1>Reports</h1>{0}<ul>{1}</ul></body>",
        "<body><h2>Reports</h2>{0}<ul>{1}</ul></body>",
        "<body><div><h1>Reports</h1><div>{0}</div><div><ul>{1}</ul></div></div></body>",
    ],
)
def test_link_added_below_an_introduction_is_significant(page: str, count: int) -> None:
    old, new = ("".join(map(build_report_link, range(number))) for number in (count, count + 1))
    assert ChangeKind.CONTENT in compare_pages(page.format(INTRODUCTION, old), page.format(INTRODUCTION, new)).kinds


def test_link_added_to_a_large_footer_is_noise() -> None:
    page = "<body><div><h1>Terms</h1>{0}</div><div>{1}</div></body>"
    old, new = ("".join(map(build_report_link, range(number))) for number in (20, 21))
    text = "".join(f"<p>{clause}</p>" for clause in CLAUSES[:4])
    assert ChangeKind.CONTENT not in compare_pages(page.format(text, old), page.format(text, new)).kinds


@pytest.mark.parametrize("clauses", [0, 1, 12])
def test_price_in_a_list_of_links_is_significant(clauses: int) -> None:
    text = "".join(f"<p>{clause}</p>" for clause in CLAUSES[:clauses])
    lamps = "".join(f"<li><a href='/{n}'>Lamp model {n} — {10 + n},99 €</a></li>" for n in range(12))
    page = f"<body><h1>Lamps</h1>{text}<ul>{lamps}</ul></body>"
    assert ChangeKind.CONTENT in compare_pages(page, page.replace("15,99", "18,99")).kinds


MENU = "<nav><ul>{0}</ul></nav>"
PATH = "<div role='navigation'><a href='/'>Home</a> <a href='/{0}'>{1}</a></div>"
HELPFUL = "<footer><p>{0}</p><a href='/{1}'>{1}</a></footer>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (MENU.format(FIRST), MENU.format(SECOND)),
        (MENU.format("<li><a href='/a'>Fares</a></li>"), MENU.format("<li><a href='/b'>Fares</a></li>")),
        (PATH.format("help", "Help"), ""),
        (HELPFUL.format("Was this article of help to you?", "feedback"), HELPFUL.format("Return to the top", "top")),
    ],
    ids=["a menu", "another target in a menu", "a path that went", "a footer"],
)
@pytest.mark.parametrize("part", ["before", "after", "beside"])
def test_menu_or_footer_in_the_main_element_is_noise(old: str, new: str, part: str) -> None:
    assert ChangeKind.CONTENT not in compare_case(semantic, ("", part, old, new)).kinds


def test_main_element_that_is_a_menu_is_significant() -> None:
    text = "<h1>Help</h1><p>These are all questions that were asked.</p>"
    page = f"<body><header>Harbour Company</header><main>{text}{MENU}</main></body>"
    assert ChangeKind.CONTENT in compare_pages(page.format(FIRST), page.format(SECOND)).kinds
    assert (
        ChangeKind.CONTENT in compare_pages(page.format(FIRST), page.format(FIRST + ITEM.format(9, "Gift cards"))).kinds
    )


def test_options_in_the_main_element_are_significant() -> None:
    sizes = "<select><option>Adults</option><option>Children</option>{0}</select>"
    case = ("", "within", sizes.format(""), sizes.format("<option>Dogs</option>"))
    assert ChangeKind.CONTENT in compare_case(semantic, case).kinds


def test_link_target_in_a_page_named_banner_is_significant() -> None:
    old, new = (
        soup(Page(within=f"<p>The <a href='/{name}'>table of fares</a> is part of it.</p>")).replace(
            'id="root"', 'id="root" class="page-banner"'
        )
        for name in ("fares", "prices")
    )
    assert ChangeKind.CONTENT in compare_pages(old, new).kinds


@pytest.mark.parametrize("builder", BUILDERS)
def test_text_after_an_unclosed_iframe_is_significant(builder: Builder) -> None:
    frame = '<noscript><iframe src="https://t.example/ns.html?id={0}" height="0" width="0" /></noscript>'
    page = Page(head=frame.format(1))
    assert ChangeKind.CONTENT in compare_pages(builder(page), builder(replace(page, text=CLAUSES[:-1]))).kinds
    assert ChangeKind.CONTENT not in compare_pages(builder(page), builder(replace(page, head=frame.format(2)))).kinds
    assert ChangeKind.CONTENT not in compare_pages(builder(page), builder(replace(page, head=""))).kinds
    assert ChangeKind.CONTENT not in compare_pages(builder(page), builder(replace(page, foot="<p>Follow us</p>"))).kinds


@pytest.mark.parametrize(
    "markup", ["<a href='#text'>Skip to the text</a>", "<p><a href='/old'>See the old terms</a></p>"]
)
def test_link_outside_the_main_region_is_noise_and_text_is_significant(markup: str) -> None:
    page = soup(Page())
    words = markup.replace("<a ", "<i ").replace("</a>", "</i>")
    for place in ("<body>", "</body>"):
        assert ChangeKind.CONTENT not in compare_pages(page, page.replace(place, f"{place}{markup}")).kinds
        assert ChangeKind.CONTENT in compare_pages(page, page.replace(place, f"{place}{words}")).kinds


@pytest.mark.parametrize("part", ["before", "within", "after"])
def test_link_box_inside_the_main_region_is_noise(part: str) -> None:
    case = ("", part, f"<div><h3>Read on</h3><ul>{FIRST}</ul></div>", f"<div><h3>Read on</h3><ul>{SECOND}</ul></div>")
    assert ChangeKind.CONTENT not in compare_case(soup, case).kinds
