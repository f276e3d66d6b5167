# The server as an image: the page and the wheel are built, installed, and only the result is kept.
# The commands are those of deployment without containers: make wheel, deploy/install.sh.

FROM node:22-bookworm-slim AS node

FROM python:3.13-bookworm AS wheel
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /build
COPY . .
RUN make wheel

FROM python:3.13-slim-bookworm AS installed
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1
COPY requirements/serve.txt requirements/serve.txt
COPY deploy/install.sh deploy/install.sh
COPY --from=wheel /build/dist dist
RUN deploy/install.sh dist/askgraph-*.whl /opt/askgraph

FROM python:3.13-slim-bookworm
RUN useradd --uid 10001 --no-create-home --home-dir /workspace askgraph \
    && install --directory --owner askgraph --group askgraph /workspace
COPY --from=installed /opt/askgraph /opt/askgraph
ENV PATH=/opt/askgraph/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ASKGRAPH_WORKSPACE=/workspace \
    ASKGRAPH_SERVE_HOST=0.0.0.0
USER 10001
WORKDIR /workspace
VOLUME /workspace
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["askgraph"]
CMD ["serve"]
