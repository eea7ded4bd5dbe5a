"""Tests of stripping volatile text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.content.volatile.strip import flag_volatile_lines, strip_build_id, strip_volatile_text

PIECES = (
    *("12:30", "8:38 AM", "9 pm", "14h05", "5 May 2027", "2022-01-08", "Monday", "Updated", "Last modified on", "now"),
    *("3 hours ago", "vor 2 Tagen", "yesterday", "(c) 2024", "Copyright 2024", "\u00a9 2024", "C 2024", "1,234 views"),
    *("4.5 (231)", "4.5 out of 5", "3 + 4 =", "7 plus 2?", "Your IP: 203.0.113.7", "Posts: 12", "Load time: 3 s"),
    *("Comments (12)", "5f2b8a9cdeadbeef0011", "csrf", "sqlite3_blob_read16", "Build 20240501.3", "took 12 ms"),
    *(
        "the gull",
        "of 12",
        "\u201cgull\u201d",
        "\u2013",
        "gull\u2019s",
        "5分前",
        "٣",
        "",
        "a_b-c_d-e_f-g",
        "Request id",
    ),
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("This page last modified on 2022-01-08 05:02:57 UTC", "This page last modified on 2024-11-30 21:14:01 UTC"),
        ("8:38 AM", "11:05 PM"),
        ("Sunday, Aug 9th 2026", "Monday, Aug 10th 2026"),
        ("updated 3 hours ago", "updated 12 minutes ago"),
        ("1,234 views", "1,235 views"),
        ("Comments (12)", "Comments (13)"),
        ("Page generated in 0.051 seconds", "Page generated in 1.2 seconds"),
        ("\u00a9 1999-2025 Birds Inc.", "\u00a9 1999-2026 Birds Inc."),
        ("Incident Number: 18.cdb01302.1784119050", "Incident Number: 18.aa01302.1784119099"),
        ("Build 20240501.3", "Build 20240502.1"),
        ("csrf 5f2b8a9cdeadbeef0011", "csrf 99aa8a9cdeadbeef0022"),
        ("lundi 16 novembre 2026", "mardi 17 novembre 2026"),
        ("Montag, 16. November", "Mittwoch, 18. November"),
        ("il y a 3 heures", "il y a 2 jours"),
        ("vor 59 Minuten", "vor 1 Stunde"),
        ("3 dagen geleden", "1 week geleden"),
        ("5分前", "2日前"),
        ("12 out of 40 found this helpful", "13 out of 41 found this helpful"),
        ("Last updated: 5 May 2027", "Last updated: 12 June 2027"),
        ("Last updated: 5 May 2027. Visitors: 1204", "Last updated: 9 May 2027. Visitors: 1306"),
        ("Page last modified 2027-05-05", "Page last modified 2027-06-12"),
        ("Stand: 5. Mai 2027, 10:30 Uhr", "Stand: 6. Mai 2027, 11:45 Uhr"),
        ("Dernière mise à jour le 5 mai 2027 à 10h30", "Dernière mise à jour le 6 mai 2027 à 9h15"),
        ("更新日時：2025年5月5日 10時30分", "更新日時：2025年5月6日 11時31分"),
        ("Gold 1,921.30 USD as of 10:30 GMT", "Gold 1,921.30 USD as of 11:45 GMT"),
        (
            "Generated on Thu Jan 12 2023 10:30:00 for birds by doxygen",
            "Generated on Fri Mar 3 2023 9:00 for birds by doxygen",
        ),
        ("$300 \u00b7 12 reviews", "$300 \u00b7 13 reviews"),
        ("12 guests online", "1,013 guests online"),
        ("Users browsing this forum: 4 guests", "Users browsing this forum: 7 guests"),
        ("This page has been accessed 10,231 times.", "This page has been accessed 10,452 times."),
        ("Visitors today: 231", "Visitors today: 305"),
        ("Besucher heute: 231", "Besucher heute: 305"),
        ("\u2605\u2605\u2605\u2605\u2606 (12)", "\u2605\u2605\u2605\u2605\u2606 (13)"),
        ("\u2605\u2605\u2605\u2605\u00bd 12", "\u2605\u2605\u2605\u2605\u00bd 13"),
        ("Time left: 2d 03h 11m", "Time left: 1d 22h 40m"),
        ("Sale ends in 03:12:44", "Sale ends in 02:10:01"),
        ("Order within 3 hours 12 minutes for delivery", "Order within 1 hour 47 minutes for delivery"),
        ("Noch 2 Tage 3 Stunden", "Noch 1 Tag 3 Stunden"),
        ("Rating: 4.5", "Rating: 4.6"),
        ("Average rating: 4.5", "Average rating: 4.6"),
        ("4.5 (231)", "4.6 (235)"),
        ("4.5 (231 reviews)", "4.6 (235 reviews)"),
        ("★ 4.5 (9)", "★ 4.6 (12)"),
        ("4.5 out of 5 stars", "4.6 out of 5 stars"),
        ("4.5/5 (231 votes)", "4.6/5 (235 votes)"),
        ("4,5 von 5 Sternen", "4,6 von 5 Sternen"),
        ("4,5 sur 5 étoiles", "4,6 sur 5 étoiles"),
        ("Rated 4.50 out of 5 based on 231 customer ratings", "Rated 4.60 out of 5 based on 235 customer ratings"),
        ("231件のレビュー", "235件のレビュー"),
        ("What is 3 + 4?", "What is 8 + 1?"),
        ("3 + 4 =", "8 + 1 ="),
        ("Please solve: 12 \u2212 5 = ?", "Please solve: 9 \u2212 2 = ?"),
        ("Wie viel ist 7 plus 2?", "Wie viel ist 4 plus 5?"),
        ("Your IP address: 203.0.113.7", "Your IP address: 198.51.100.23"),
        ("Page load time: 0.123s", "Page load time: 0.098s"),
        ("Temps de génération : 0,123 s", "Temps de génération : 0,098 s"),
        ("Processed in 0.0312 second(s), 12 queries", "Processed in 0.0291 second(s), 11 queries"),
        ("Order in the next 3 hrs 12 mins for dispatch", "Order in the next 1 hr 47 mins for dispatch"),
        ("4 star reviews: 12", "4 star reviews: 13"),
        ("build 3f2a9c1", "build 99aa8b2"),
        ("Request ID: 8f3a", "Request ID: 77ab"),
        ("Session 5f2b8a9cdead", "Session 77ab01cddead"),
        ("Uptime: 12 days", "Uptime: 13 days"),
        ("Replies: 12 Views: 1,204", "Replies: 12 Views: 1,245"),
        ("4 min read", "12 min read"),
        ("Reading time: 4 minutes", "Reading time: 5 minutes"),
        ("Lesezeit: ca. 4 Min.", "Lesezeit: ca. 7 Min."),
        ("9 Minuten Lesezeit", "8 Minuten Lesezeit"),
        ("9 minutos de lectura", "8 minutos de lectura"),
        ("9 minutos de leitura", "8 minutos de leitura"),
        ("9 minuti di lettura", "8 minuti di lettura"),
        ("9 minutes de lecture | Ports", "8 minutes de lecture | Ports"),
        ("By Ann \u00b7 7-minute read \u00b7 Ports", "By Ann \u00b7 9-minute read \u00b7 Ports"),
        ("Updated over 2 weeks ago", "Updated over 3 weeks ago"),
        ("Last active more than 3 days ago by Ann", "Last active more than 4 days ago by Ann"),
        ("Page generated in 0.12 seconds with 14 queries.", "Page generated in 1.4 seconds with 9 queries."),
        ("Seite in 0,12 Sekunden erstellt", "Seite in 1,4 Sekunden erstellt"),
    ],
)
def test_volatile_text_is_stripped(old: str, new: str) -> None:
    assert strip_volatile_text(old) == strip_volatile_text(new) != old


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("an hour ago", "2 hours ago"),
        ("Ann8 days ago", "Ann11 days ago"),
        ("just now", "1 minute ago"),
        ("Updated yesterday", "Updated 2 days ago"),
        ("Yesterday at 10:31", "Yesterday at 11:02"),
        ("Ann, today at 10:31", "Ann, today at 11:02"),
        ("vor einer Stunde", "vor 2 Stunden"),
        ("il y a une heure", "il y a 2 heures"),
        ("hace una hora", "hace 2 horas"),
        ("un'ora fa", "2 ore fa"),
        ("för 3 timmar sedan", "för 4 dagar sedan"),
        ("3 години тому", "5 годин тому"),
        ("před 3 hodinami", "před 2 dny"),
        ("3 órája", "2 napja"),
        ("acum 3 ore", "acum 4 zile"),
        ("πριν από 3 ώρες", "πριν από 2 ημέρες"),
        ("преди 3 часа", "преди 4 дни"),
        ("قبل 3 ساعات", "منذ 4 أيام"),
        ("۳ ساعت پیش", "۴ ساعت پیش"),
        ("לפני 3 שעות", "לפני 4 ימים"),
        ("3 घंटे पहले", "4 दिन पहले"),
        ("3 ชั่วโมงที่แล้ว", "4 วันที่แล้ว"),
        ("3 giờ trước", "4 ngày trước"),
        ("3 jam yang lalu", "4 hari yang lalu"),
        ("3시간 전", "4일 전"),
        ("3小時前", "2個月前"),
        ("1週間前", "2か月前"),
        ("3小时前发布", "4天前发布"),
        ("Ann · 3時間前", "Ann · 4時間前"),
        ("Posted today", "Posted 30+ days ago"),
        ("Active just now", "Active 3w ago"),
        ("1 day, 3 hours ago", "2mo ago"),
        ("less than a minute ago", "about 5 hours ago"),
        ("over 2 years ago", "almost 3 years ago"),
        ("today at 10:31", "yesterday"),
        ("Heute, 10:31 Uhr", "vor 3 Std."),
        ("gerade eben", "vor wenigen Minuten"),
        ("Aujourd'hui à 10h31", "il y a quelques secondes"),
        ("hace unos segundos", "hoy a las 10:31"),
        ("vandaag 10:31", "gisteren 10:31"),
        ("только что", "час назад"),
        ("godzinę temu", "przed chwilą"),
        ("az önce", "3 dakika önce"),
        ("今天 10:31", "2天前"),
        ("방금 전", "3분 전"),
        ("vừa xong", "3 giờ trước"),
    ],
)
def test_relative_times_are_stripped_in_many_languages(old: str, new: str) -> None:
    assert strip_volatile_text(old) == strip_volatile_text(new) != old


@pytest.mark.parametrize(
    "line",
    [
        "3日前までにご連絡ください",
        "قبل 3 أيام من السفر يمكن الإلغاء",
        "यात्रा से 3 दिन पहले रद्द करें",
        "3 วันก่อนเดินทาง",
        "출발 3일 전까지 취소",
        "Cancel up to 3 days before you leave",
        "Doors today at 19:30",
        "Next tour: today at 14:00",
        "Was heute 12 Boote bringt",
        "Bis 3 Tage vor der Reise",
        "Fino a 3 giorni prima",
    ],
)
def test_days_before_an_event_are_content(line: str) -> None:
    assert strip_volatile_text(line) == line


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Atualizado em 3 de maio de 2026", "Atualizado em 4 de junho de 2026"),
        ("Обновлено: 3 мая 2026 г.", "Обновлено: 4 июня 2026 г."),
        ("Ostatnia aktualizacja: 3 maja 2026", "Ostatnia aktualizacja: 4 czerwca 2026"),
        ("Senast uppdaterad: 3 maj 2026", "Senast uppdaterad: 4 juni 2026"),
        ("Aktualizováno: 3. května 2026", "Aktualizováno: 4. června 2026"),
        ("Son güncelleme: 3 Mayıs 2026", "Son güncelleme: 4 Haziran 2026"),
        ("Τελευταία ενημέρωση: 3 Μαΐου 2026", "Τελευταία ενημέρωση: 4 Ιουνίου 2026"),
        ("آخر تحديث: 3 مايو 2026", "آخر تحديث: 4 يونيو 2026"),
        ("עודכן לאחרונה: 3 במאי 2026", "עודכן לאחרונה: 4 ביוני 2026"),
        ("अंतिम अपडेट: 3 मई 2026", "अंतिम अपडेट: 4 जून 2026"),
        ("ปรับปรุงล่าสุด 3 พฤษภาคม 2569", "ปรับปรุงล่าสุด 4 มิถุนายน 2569"),
        ("Cập nhật lần cuối: 03/05/2026", "Cập nhật lần cuối: 04/06/2026"),
        ("최종 수정일: 2026년 5월 3일", "최종 수정일: 2026년 6월 4일"),
        (
            "Questa pagina è stata modificata per l'ultima volta il 5 mag 2027 alle 10:31.",
            "Questa pagina è stata modificata per l'ultima volta il 9 giu 2027 alle 08:02.",
        ),
        (
            "Deze pagina is voor het laatst bewerkt op 5 mei 2027 om 10:31.",
            "Deze pagina is voor het laatst bewerkt op 9 juni 2027 om 08:02.",
        ),
        (
            "Эта страница в последний раз была отредактирована 5 мая 2027 в 10:31.",
            "Эта страница в последний раз была отредактирована 9 июня 2027 в 08:02.",
        ),
        (
            "Esta página foi editada pela última vez às 10h31min de 5 de maio de 2027.",
            "Esta página foi editada pela última vez às 08h02min de 9 de junho de 2027.",
        ),
        (
            "Denna sida redigerades senast den 5 maj 2027 kl. 10.31.",
            "Denna sida redigerades senast den 9 juni 2027 kl. 08.02.",
        ),
        ("本页面最后修订于2027年5月5日 (星期三) 10:31。", "本页面最后修订于2027年6月9日 (星期三) 08:02。"),
    ],
)
def test_update_times_are_stripped_in_many_languages(old: str, new: str) -> None:
    assert strip_volatile_text(old) == strip_volatile_text(new) != old


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1 comment", "2 comments"),
        ("Trusted by 12,345 users", "Trusted by 12,399 users"),
        ("Trusted by over 12,345 companies worldwide", "Trusted by over 12,399 companies worldwide"),
        ("Join 11,639 others", "Join 11,640 others"),
        ("Seen 1234 times", "Seen 1250 times"),
        ("You are visitor number 12345", "You are visitor number 12399"),
        ("12 people are watching this", "15 people are watching this"),
        ("12 people found this helpful", "15 people found this helpful"),
        ("1,234 sold", "1,250 sold"),
        ("8 people reacted", "12 people reacted"),
        ("Ada and 6 others like this", "Ada and 7 others like this"),
        ("Fork 302", "Fork 304"),
        ("Star 2.9k", "Star 3k"),
        ("62 watching", "63 watching"),
        ("1,366 Commits", "1,401 Commits"),
        ("Contributors 41", "Contributors 42"),
        ("累計アクセス数：1,234", "累計アクセス数：1,250"),
        ("1 Kommentar", "2 Kommentare"),
        ("1.234 mal gelesen", "1.250 mal gelesen"),
        ("1.234 visitas", "1.240 visitas"),
        ("1.234 visualizzazioni", "1.240 visualizzazioni"),
        ("1.234 visualizações", "1.240 visualizações"),
        ("1234 просмотра", "1250 просмотров"),
        ("1234 wyświetleń", "1250 wyświetleń"),
        ("1.234 görüntülenme", "1.250 görüntülenme"),
        ("1.234 lượt xem", "1.250 lượt xem"),
        ("1234 مشاهدة", "1250 مشاهدة"),
        ("1,234 צפיות", "1,250 צפיות"),
        ("조회수 1,234", "조회수 1,250"),
        ("浏览次数：1234", "浏览次数：1250"),
        ("1234次浏览", "1250次浏览"),
        ("閲覧数：1234", "閲覧数：1250"),
        ("1,234 回視聴", "1,250 回視聴"),
        ("Posts: 812", "Posts: 815"),
        ("Posts: 1,234 Threads: 45 Joined: Mar 2015", "Posts: 1,240 Threads: 46 Joined: Mar 2015"),
        ("Messages : 456", "Messages : 460"),
        ("Beiträge: 812", "Beiträge: 815"),
        ("Mensajes: 456", "Mensajes: 460"),
        ("Сообщений: 456", "Сообщений: 460"),
        ("Antworten: 12 Zugriffe: 1204", "Antworten: 13 Zugriffe: 1251"),
        ("Reaction score: 1,204", "Reaction score: 1,209"),
        ("Thanked 34 times in 20 posts", "Thanked 36 times in 21 posts"),
        ("Total posts 12345 • Total topics 1234", "Total posts 12351 • Total topics 1236"),
        ("3 Members, 12 Guests online", "5 Members, 9 Guests online"),
        ("Online: 3 members and 12 guests", "Online: 5 members and 9 guests"),
        ("Most users ever online was 1,203 on 3 March", "Most users ever online was 1,260 on 2 April"),
        ("Stars 1,234 Forks 56", "Stars 1,240 Forks 57"),
        ("Star 1.2k", "Star 1.3k"),
        ("231 customer ratings", "235 customer ratings"),
        ("3 thoughts on “The terns are back”", "4 thoughts on “The terns are back”"),
        ("12 people have this in their cart", "15 people have this in their cart"),
        ("231 people like this", "240 people like this"),
        ("15 viewed in the last hour", "9 viewed in the last hour"),
        ("In 20+ carts", "In 30+ carts"),
        ("Cart (0)", "Cart (2)"),
        ("1 item in your basket", "3 items in your basket"),
        ("45 watching", "51 watching"),
        ("34 applicants", "41 applicants"),
        ("Lu 1204 fois", "Lu 1251 fois"),
        ("Leído 1204 veces", "Leído 1251 veces"),
        ("Прочитано 1204 раза", "Прочитано 1251 раз"),
        ("Gefällt 231 Mal", "Gefällt 240 Mal"),
        ("1 204 abonnés", "1 251 abonnés"),
        ("1204 подписчика", "1251 подписчик"),
    ],
)
def test_visitor_counters_are_stripped_in_many_languages(old: str, new: str) -> None:
    assert strip_volatile_text(old) == strip_volatile_text(new) != old


@pytest.mark.parametrize(
    "line",
    [
        "Used by 3 departments under section 4 of the act.",
        "Join us at 7 Harbour Street",
        "House sold for 350000",
        "Star 3 of the cluster",
        "Fork 2 m wide",
        "アクセス 3番出口",
        "Read chapter 4 by 5 May",
        "12 people per boat",
        "Deadline for comments: 5 May 2025",
        "Comments: 5 May",
        "Kommentare: 5. Mai",
        "Visits: 9:00-17:00",
        "Visits: 9-17 h",
        "Comments: 5 pm",
        "Visites : 10 h",
        "Maximum 40 visitors",
        "Kapazität: 40 Besucher",
        "Up to 40 visitors",
        "Bis zu 40 Besucher",
        "Visitors: 40 per tour",
        "40 members per team",
        "Inn of the gulls \u2605\u2605\u2605 120",
        "Sizes: 2 2\u00bd 3",
        "Trial ends in 14 days",
        "Lights out within 3 hours",
        "4 star hotel",
        "Inn of 4 stars",
        "Guide stars: 2",
        "Fire rating: 30",
        "Energy rating: 3.5",
        "Comments: 30 days",
        "Each member has 2 votes",
        "2 votes required",
        "Visitors allowed: 2",
        "No more than 2 visitors",
        "Only 2 visitors at a time",
        "Mindestens 3 Bewertungen",
        "Includes 5 downloads",
        "10,000 views/month",
        "Issue of 12,500 shares",
        "Number of shares: 1,000,000",
        "Number of posts: 3",
        "Posts: 3 full time, 2 part time",
        "Messages 3 to 5 of the protocol",
        "Counter: 12",
        "5 applicants needed",
        "Online course: 12 members",
        "Total 12",
        "第12章 阅读的乐趣",
        "播放器版本 3.2",
    ],
)
def test_other_numbers_are_content(line: str) -> None:
    assert strip_volatile_text(line) == line


@pytest.mark.parametrize(
    "line",
    [
        "Effective 22 May 2024",
        "Royalties of less than 5000 JPY",
        "The server listens on port 8080",
        "Section 3.14 says",
        "Version 17.0.19+10",
        "10 members of staff",
        "Psalm 23:4",
        "java.lang.String",
        "no digits at all",
        "Anything booked more than 3 days ago is final.",
        "It takes 60 votes to change the rules.",
        "There is a 60-minute reading paper.",
        "Allow 20 minutes to read each contract.",
        "Meters give one 15-minute reading each.",
        "Meters give one 15-minute reading.",
        "Reading Time: 45 min, Writing: 60 min",
        "Accounts last active more than 30 days ago are closed.",
        "Posts created over 90 days ago are deleted.",
        "Copies must be checked less than 3 years ago.",
        "Applications must be received by 17:00 on 5 May 2027.",
        "Deadline: 5 May 2027, 17:00",
        "Regulation 12 as modified on 5 May 2027 applies",
        "The hearing takes place on Monday, 5 May 2027 in room 4.",
        "Effective as of 17:00 on 5 May 2027",
        "Opening hours: 9:00 to 17:00",
        "Monday 9:00-17:00",
        "Ouvert de 9h00 à 17h00",
        "Concert starts at 8:00 pm in the hall",
        "申请截止时间为2025年5月5日17:00。",
        "John 3:16 is cited here",
        "Mix in a ratio of 1:10 with water",
        "(c) by 31 December 2025, in the case of large firms;",
        "(c) 2000 kilograms per year",
        "Section 5 of the Copyright Act 1988 applies.",
        "Download 3.2.1",
        "Share 12.50 EUR",
        "Delivery in 5 days",
        "2.1 Online pharmacies",
        "Revision 5",
        "Build 1204",
        "System build 22631.3447",
        "Session 3",
        "Score: 4.5 (2019)",
        "4.5 (2.1)",
        "4.5 (2019)",
        "Gull coffee \u2605\u2605\u2605 4.50",
        "4.5 (3)",
        "4.5 (12 km)",
        "4 of 5 stars",
        "3.5 of 5 litres",
        "3 + 4 = 7",
        "4 + 1 free",
        "Open from 9-5?",
        "What is a 4x4?",
        "The address is 203.0.113.7",
        "Response time: 120 ms",
        "Session: 2024-2025",
        "Request no. 12",
        "The outage took 3 hours to resolve",
        "Breakfast is served in 30 minutes",
        "Built in 3 days by two people",
        "Tests taken up to 48 hours ago are accepted",
        "IBAN DE89370400440532013000",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_numbers_and_times_in_content_are_kept(line: str) -> None:
    assert strip_volatile_text(line) == line


@pytest.mark.parametrize(
    "line",
    [
        "This page last modified on 2022-01-08 05:02:57 UTC",
        "updated: 2027-05-05 11:58",
        "Generated on 5 May 2027, 10:31",
    ],
)
def test_update_line_is_stripped_completely(line: str) -> None:
    assert strip_volatile_text(line) == ""


def test_label_of_clock_time_is_kept() -> None:
    assert strip_volatile_text("Server time: 11:58") == "Server time: "


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Price: $12.50 (updated 10:30)", "Price: $13.50 (updated 10:30)"),
        ("Price for 2 guests: $300", "Price for 2 guests: $350"),
        ("$300 \u00b7 12 reviews", "$350 \u00b7 12 reviews"),
        ("Gold 1,921.30 USD as of 10:30 GMT", "Gold 1,955.10 USD as of 10:30 GMT"),
        ("Version 3.2 build 77", "Version 3.3 build 77"),
        ("Dividend per 100 shares: 45 EUR", "Dividend per 100 shares: 55 EUR"),
        ("Built in 1998, sold for 300000", "Built in 1998, sold for 350000"),
        ("Bus 5, updated 10:30", "Bus 6, updated 10:30"),
    ],
)
def test_number_next_to_volatile_text_is_content(old: str, new: str) -> None:
    assert strip_volatile_text(old) != strip_volatile_text(new)


def test_a_time_in_a_long_paragraph_is_content() -> None:
    line = "The meeting starts at 10:45 in the big hall of the town. " * 4
    assert strip_volatile_text(line) == line


def test_asset_urls_lose_build_ids_and_cache_busters() -> None:
    assert strip_build_id("/static/app.78c92fac7aa8fdd8.js?v=12#x") == strip_build_id("/static/app.11112fac7aa8fdd9.js")
    assert strip_build_id("/static/app.js") != strip_build_id("/static/other.js")
    assert strip_build_id("/static/app.a1b2c3.js") == strip_build_id("/static/app.d4e5f6.js")
    assert strip_build_id("/static/v123/app.js") == strip_build_id("/static/v124/app.js")
    assert strip_build_id("/_x/Xk3LmZ9QpR7sT1uV2wY4a/a.js") == strip_build_id("/_x/Qw8ErTyUiOpAsDfGhJk1z/a.js")
    assert strip_build_id("/lib/3.6.0/lib.js") != strip_build_id("/lib/3.7.0/lib.js")
    assert strip_build_id("/decade/facade.js") != strip_build_id("/facade/decade.js")


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=4), min_size=1, max_size=6),
    st.sampled_from((" ", "\u00a0", "")),
)
def test_flagging_many_lines_misses_no_volatile_text(rows: list[list[str]], separator: str) -> None:
    lines = [separator.join(row) for row in rows]
    assert [
        line
        for line, flag in zip(lines, flag_volatile_lines(lines), strict=True)
        if not flag and strip_volatile_text(line) != line
    ] == []


def test_lines_without_triggers_are_not_flagged() -> None:
    lines = [
        "Chapter 12",
        "73.7.\u00a0Heap-Only Tuples",
        "sqlite3_bind_text64",
        "In 2024 the gulls came \u2013 and stayed",
    ]
    assert flag_volatile_lines([*lines, "12:30", "12 " * 100]) == [False, False, False, False, True, False]
