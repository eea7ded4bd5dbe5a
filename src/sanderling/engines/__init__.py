"""Where migrants live: processes on this machine, a Ray cluster, a host beside a web server."""
