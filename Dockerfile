# Image of the server. compose.yaml runs two of it; alone it keeps everything in its volume:
#   docker build -t everlore . && docker run -p 127.0.0.1:6636:6636 -v everlore:/var/lib/everlore everlore

# The version of rust-toolchain.toml.
FROM rust:1.95.0-bookworm AS build
# Takes the compiler of the image; the file also asks for rustfmt and clippy, which would be downloaded.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
# The caches make the next build quick and are no part of the image, so the binary is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    cargo build --locked --profile dist -p everlore-cli && cp target/dist/everlore /usr/local/bin/everlore

FROM debian:bookworm-slim
# Certificates for providers of models, and curl for the health check.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 636 --home-dir /var/lib/everlore --create-home everlore
COPY --from=build /usr/local/bin/everlore /usr/local/bin/everlore
ENV EVERLORE_HOME=/var/lib/everlore
# By number, so that a cluster can check that it is not root.
USER 636
VOLUME /var/lib/everlore
EXPOSE 6636
# The first start of a server makes its tables and may wait for its database.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s CMD ["curl", "-fsS", "http://127.0.0.1:6636/ready"]
ENTRYPOINT ["everlore"]
# Other containers are other machines. Clients need a token or a key all the same.
CMD ["serve", "--host", "0.0.0.0", "--allow-remote"]
