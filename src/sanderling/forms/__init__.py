"""Forms: which are sent, the queries of each, and the worth of their results. Also recipes of the user.

Sources: HiWE (Raghavan and Garcia-Molina 2001, LIT-HID of the papers) for fields with values of a label; Madhavan et
al., Google's Deep Web Crawl (2008), for query templates and the test whether they are informative; Ntoulas, Zerfos and
Cho (2005) for words chosen by what earlier words found.
"""
