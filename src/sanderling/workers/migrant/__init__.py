"""A host beside a web server: signed itineraries in, only what is new out. No code travels.

letter.py   what is sent: the itinerary with sender, receiver, site, expiry and nonce, signed; and what comes back
keys.py     Ed25519 keys: who may send
rules.py    what the owner allows: senders, sites, paths, hours, rates; every refusal has a name; see spellings.py
gate.py     hours and rates of one site, for all guests together
local.py    the site as seen from its own machine: by HTTP on loopback, or as a folder of files
walk.py     one errand: look at pages, follow links if the whole site is wanted, keep what is new
service.py  the little HTTP(S) service around it, door.py who is in; sender.py packs (packing.py: how) while it walks
post.py     the crawler's side: letters out, messages in; hearing.py says what of them is believed
dates.py    how the last letters were dated, for a host that is started again
runtime/memory.py   what both sides keep of a first visit, for later ones to refer to
prose.py    a first answer by a model of text (coder.py), in shorthand.py (slips, echo, lines, words); see reader.py
"""
