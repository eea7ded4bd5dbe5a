"""Workers fetch pages: processes on this machine, Ray actors, or through a migrant on the machine of a web server.

    coordinator -- FetchBatch --> engine --> worker
    coordinator <-- WorkerReport | WorkerLost -- engine

- `local`, `spawn`, `worker`, `worker_protocol`: worker processes and the frames exchanged with them
- `ray`: workers as Ray actors; `migrant`: workers on the machine of a web server
- `assignment`: choice of the worker for each host
- `manager`, `lifecycle`, `parking`: creation, moving, parking and resizing
- `control`, `admin`: commands to a running crawl
"""
