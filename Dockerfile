# docker build -t sanderling . && docker run --rm -v "$PWD/data:/data" sanderling crawl https://example.org/
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN python -m venv /opt/sanderling \
 && /opt/sanderling/bin/pip install --no-cache-dir "/source[search,documents,alerts,parquet,postgresql,migrant,mcp]"

FROM python:3.13-slim
COPY --from=build /opt/sanderling /opt/sanderling
RUN useradd --create-home --uid 1000 sanderling && mkdir /data && chown sanderling /data
USER sanderling
WORKDIR /data
ENV PATH=/opt/sanderling/bin:$PATH SANDERLING_COLLECTION=/data/collection
EXPOSE 8420
ENTRYPOINT ["sanderling"]
CMD ["--help"]
