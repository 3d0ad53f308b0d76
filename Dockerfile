# docker build -t regard .
#   --build-arg PIP_OPTIONS="--index-url <the PyTorch index of CPU wheels>"   makes a small image, without CUDA
#   --target test                                                            runs the tests instead
# docker run --rm -v "$PWD:/data" regard train -c my.yaml
FROM debian:12 AS build
ARG PIP_OPTIONS=""
WORKDIR /regard
COPY scripts/setup.sh scripts/setup.sh
RUN scripts/setup.sh $PIP_OPTIONS
COPY . .
RUN scripts/install.sh /opt/regard

FROM build AS test
RUN scripts/test.sh

FROM debian:12-slim
COPY --from=build /opt/regard /opt/regard
ENV PATH=/opt/regard/bin:$PATH
WORKDIR /data
ENTRYPOINT ["regard"]
CMD ["--help"]
