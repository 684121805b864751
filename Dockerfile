# docker build -t taylorank .
# docker run --rm --read-only --tmpfs /tmp -p 127.0.0.1:8000:8000 -v "$PWD/models:/models:ro" taylorank model.tr
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml constraints.txt CMakeLists.txt README.md LICENSE ./
COPY native native
COPY src src
RUN TAYLORANK_REQUIRE_NATIVE=1 PIP_CONSTRAINT=constraints.txt \
    pip install --no-cache-dir --prefix=/installed ".[serve]"

FROM python:3.12-slim
COPY --from=build /installed /usr/local
RUN useradd --system --uid 10001 --no-create-home taylorank
USER taylorank
WORKDIR /models
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health/ready', timeout=4)"]
ENTRYPOINT ["taylorank", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["model.tr"]
