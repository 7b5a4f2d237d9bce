# The image of the connector: for Airbyte (its entry point), for Singer runners (--entrypoint tap-protime
# or target-protime)
# and for every scheduler that runs containers. At run time it needs a network and nothing else: no
# writable disk, no capabilities, no user of its own.
#
#   docker build --build-arg VERSION=<version of package.json> -t source-protime .
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
    node_modules/.bin/tsc -p tsconfig.image.json && \
    npm run build:validators && \
    node dist/scripts/lay-out-package.js /image/airbyte/integration_code && \
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
LABEL io.airbyte.version=${VERSION} \
      org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.licenses=MIT

# docker build --target destination: the same programs, for Airbyte to write with.
FROM programs AS destination
ENV AIRBYTE_ENTRYPOINT=/airbyte/integration_code/bin/destination-protime
ENTRYPOINT ["/airbyte/integration_code/bin/destination-protime"]
LABEL io.airbyte.name=destination-protime \
      org.opencontainers.image.title=destination-protime

# The last stage: what is built where no target is named.
FROM programs AS source
ENV AIRBYTE_ENTRYPOINT=/airbyte/integration_code/bin/source-protime
ENTRYPOINT ["/airbyte/integration_code/bin/source-protime"]
LABEL io.airbyte.name=source-protime \
      org.opencontainers.image.title=source-protime
