# Three images of the same programs: `source` for Airbyte, Singer runners (--entrypoint tap-protime or target-protime) and every
# scheduler that runs containers; `destination` for Airbyte to write with; `sync` with DuckDB and PostgreSQL's client for `protime sync`. At run
# time they need a network and nothing else: no writable disk (but for the warehouse), no capabilities, no user of their own.
#
#   docker build --build-arg VERSION=<version of package.json> --target source -t source-protime .
#
# Another image of Node, of your own registry for example: --build-context <the name after FROM>=docker-image://<its name>

# JavaScript and WebAssembly are the same on every processor, so one build serves all platforms.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
WORKDIR /build
ENV npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
COPY package.json package-lock.json .npmrc ./
ARG VERSION
RUN node -e 'const { version } = require("./package.json"); if (version !== process.env.VERSION) throw new Error("Give --build-arg VERSION=" + version)'
# Behind a proxy that signs certificates itself: --secret id=ca,src=<its certificates>.pem
RUN --mount=type=secret,id=ca,target=/run/ca.pem,required=false \
    if [ -f /run/ca.pem ]; then export NODE_EXTRA_CA_CERTS=/run/ca.pem; fi && \
    npm ci --ignore-scripts
COPY . .
RUN npm run build:wasm && \
    node_modules/.bin/tsc -p tsconfig.build.json && \
    npm run build:validators && \
    node dist/scripts/packages.js tree /image/airbyte/integration_code && \
    mkdir -p /image/usr/local/bin && \
    for program in /image/airbyte/integration_code/bin/*; do ln -s "${program#/image}" /image/usr/local/bin/; done

# Node with the system that it needs, and without what installs software or takes the rights of another user. Nothing
# of it is run here: it may be of another platform.
FROM node:24-bookworm-slim AS node
FROM build AS system
COPY --from=node / /system/
RUN cd /system && \
    rm -rf opt/yarn* usr/local/include usr/local/lib/node_modules usr/local/share/doc usr/local/share/man \
      usr/local/bin/corepack usr/local/bin/docker-entrypoint.sh usr/local/bin/npm usr/local/bin/npx usr/local/bin/yarn* \
      usr/bin/apt* usr/bin/dpkg* usr/lib/apt && \
    find . -xdev -type f -perm /6000 -exec chmod a-s {} +

FROM scratch AS programs
COPY --from=system /system/ /
COPY --from=build /image/ /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NODE_ENV=production
WORKDIR /airbyte
# A number, not a name: runAsNonRoot can see only of a number that it is not root. Airbyte runs connectors as 1000.
USER 1000:1000
ARG VERSION
# The commit.
ARG REVISION=unknown
LABEL io.airbyte.version=${VERSION} \
      org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION} \
      org.opencontainers.image.source=https://github.com/source-protime/source-protime \
      org.opencontainers.image.url=https://github.com/source-protime/source-protime \
      org.opencontainers.image.documentation=https://github.com/source-protime/source-protime/blob/main/docs/install.md \
      org.opencontainers.image.base.name=docker.io/library/node:24-bookworm-slim \
      org.opencontainers.image.licenses=MIT

# docker build --target destination: the same programs, for Airbyte to write with.
FROM programs AS destination
ENV AIRBYTE_ENTRYPOINT=/airbyte/integration_code/bin/destination-protime
ENTRYPOINT ["/airbyte/integration_code/bin/destination-protime"]
LABEL io.airbyte.name=destination-protime \
      org.opencontainers.image.title=destination-protime \
      org.opencontainers.image.description="Writes references, job categories and work locations to a myProtime tenant. Not made or endorsed by the vendor."

# DuckDB, for the platform of the result; npm runs on that of the build.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS duckdb
WORKDIR /build
ENV npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
COPY package.json package-lock.json .npmrc ./
ARG TARGETARCH
RUN --mount=type=secret,id=ca,target=/run/ca.pem,required=false \
    if [ -f /run/ca.pem ]; then export NODE_EXTRA_CA_CERTS=/run/ca.pem; fi && \
    cpu=x64 && if [ "$TARGETARCH" = arm64 ]; then cpu=arm64; fi && \
    npm ci --ignore-scripts --os=linux --libc=glibc --cpu="$cpu"
RUN mkdir -p /duckdb/airbyte/integration_code/node_modules && \
    cp -r node_modules/@duckdb /duckdb/airbyte/integration_code/node_modules/ && \
    chmod -R a+rX,go-w /duckdb

FROM build AS sync-materials
COPY --from=duckdb /duckdb/ /image/
RUN node dist/scripts/packages.js postgres /postgres/airbyte/integration_code && \
    cp -r /postgres/. /image/ && \
    node dist/scripts/bill-of-materials.js /image/airbyte/integration_code > /sbom.cdx.json && chmod 644 /sbom.cdx.json

# docker build --target sync: `protime sync`, which reads a tenant into a DuckDB file or into PostgreSQL. It writes where the
# file is, and nowhere else; for PostgreSQL it needs a folder for rows, /tmp or that of TMPDIR.
FROM programs AS sync
COPY --from=duckdb /duckdb/ /
COPY --from=sync-materials /postgres/ /
COPY --from=sync-materials /sbom.cdx.json /airbyte/integration_code/
ENTRYPOINT ["/airbyte/integration_code/bin/protime", "sync"]
LABEL org.opencontainers.image.title=protime-sync \
      org.opencontainers.image.description="Reads a myProtime tenant into a DuckDB file or into PostgreSQL. Not made or endorsed by the vendor."

# The last stage: what is built where no target is named.
FROM programs AS source
ENV AIRBYTE_ENTRYPOINT=/airbyte/integration_code/bin/source-protime
ENTRYPOINT ["/airbyte/integration_code/bin/source-protime"]
LABEL io.airbyte.name=source-protime \
      org.opencontainers.image.title=source-protime \
      org.opencontainers.image.description="Reads a myProtime tenant into a warehouse, for Airbyte and Singer. Not made or endorsed by the vendor."
