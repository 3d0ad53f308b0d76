# docker build -t regard .           an image that serves the quick-start model, which the build trains
#   --build-arg PIP_OPTIONS="--index-url <the PyTorch index of CPU wheels>"   makes a small image, without CUDA
#   --target program                 regard without a model: trains nothing
#   --target test                    runs the tests instead
# docker run -p 127.0.0.1:8080:8080 regard
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" regard train -c my.yaml
# docs/deployment.md has more.
FROM debian:12 AS build
ARG PIP_OPTIONS=""
WORKDIR /regard
COPY scripts/setup.sh scripts/setup.sh
RUN scripts/setup.sh $PIP_OPTIONS
COPY . .
RUN scripts/install.sh --program-only /opt/regard

FROM build AS test
ARG PIP_OPTIONS=""
RUN scripts/test.sh $PIP_OPTIONS

FROM debian:12-slim AS program
COPY --from=build /opt/regard /opt/regard
ENV PATH=/opt/regard/bin:$PATH
WORKDIR /data
USER nobody
ENTRYPOINT ["regard"]
CMD ["--help"]

FROM build AS model
ARG PIP_OPTIONS=""
RUN scripts/quickstart.sh $PIP_OPTIONS
# What translation reads; the rest of a checkpoint is for resuming the training.
RUN mkdir /model && cd runs/quickstart/best && cp config.yaml manifest.json model.safetensors *.model /model

FROM program
COPY --from=model /model /model
EXPOSE 8080
HEALTHCHECK CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q ok <&3"]
CMD ["serve", "-m", "quickstart=/model", "--host", "0.0.0.0"]
