"""Where migrants live: processes on this machine, a Ray cluster, a host beside a web server.

Itineraries go out, parcels come in, and who died is said once; the coordinator cannot tell one place from another.

`processes.py` keeps those on this machine: `nursery.py` starts them (`quiet.py`: deaf to Ctrl-C), `worker.py` is one,
`wire.py` the frames between. `cluster.py` keeps those on Ray, by a process of its own (`driver.py`); `actor.py` is one.
`remote.py` is a trip whose eyes are at a host: `correspondence.py` writes its letters, `checks.py` doubts the answers,
and `hosts/` is the host itself. `control.py` lets a person speak to a running crawl, `parking.py` one crawl to another.
"""
