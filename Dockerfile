# Two images from one file: docker build --target manager|gateway.
# BASE is what the static binary is put on; it needs CA certificates and no shell.
ARG BASE=gcr.io/distroless/static-debian12:nonroot
ARG GO=golang:1.26

FROM ${GO} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY api/ api/
COPY cmd/ cmd/
COPY internal/ internal/
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/manager ./cmd/gateway

FROM ${BASE} AS manager
COPY --from=build /out/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]

FROM ${BASE} AS gateway
COPY --from=build /out/gateway /gateway
USER 65532:65532
ENTRYPOINT ["/gateway"]
