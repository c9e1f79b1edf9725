"""Groups of values from which a project chooses one: a statement with another value of a group reports a change.

A word is in one group only. A group has alternatives for one purpose; tools that are used side by side (a language and
its framework, a linter and a formatter) are in different groups.
"""

from __future__ import annotations

_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday"
    " montag montags dienstag dienstags mittwoch mittwochs donnerstag donnerstags freitag freitags samstag samstags"
    " sonntag sonntags lunes martes miercoles miércoles jueves viernes sabado sábado domingo"
    " lundi mardi mercredi jeudi vendredi samedi dimanche segunda terça quarta quinta sexta"
)
_FAMILIES = {
    "weekday": _WEEKDAYS,
    "cadence": "hourly daily nightly weekly biweekly fortnightly monthly quarterly yearly",
    "merging": "rebase squash",
    "indentation": "tab space",
    "package manager": "npm yarn pnpm bun",
    "python packaging": "pip poetry pipenv uv conda pdm",
    "broker": "redis nats rabbitmq kafka sqs pulsar celery zeromq activemq pubsub kinesis memcached valkey",
    "database": "postgres mysql mariadb sqlite mongodb mongo dynamodb cockroachdb cassandra mssql clickhouse"
    " duckdb snowflake bigquery couchdb firestore",
    "search": "elasticsearch opensearch meilisearch typesense solr algolia",
    "cloud": "aws gcp azure hetzner heroku vercel netlify digitalocean cloudflare",
    "orchestration": "kubernetes nomad ecs swarm",
    "container": "docker podman",
    "infrastructure": "terraform pulumi cloudformation opentofu ansible",
    "pipelines": "jenkins circleci travis buildkite teamcity",
    "interface": "rest graphql grpc trpc soap",
    "markup": "json yaml toml xml",
    "spelling": "camelcase snake_case kebab-case pascalcase",
    "javascript tests": "jest vitest mocha jasmine",
    "browser tests": "cypress playwright selenium puppeteer",
    "python tests": "pytest unittest nose",
    "python web": "django flask fastapi starlette tornado",
    "frontend": "react vue svelte angular preact",
    "bundler": "webpack vite rollup esbuild parcel turbopack",
    "styles": "tailwind sass bootstrap",
    "state": "redux zustand mobx recoil jotai pinia vuex",
    "node web": "express fastify koa hono nestjs",
    "formatter": "prettier biome black yapf autopep8",
    "orm": "prisma drizzle typeorm sequelize sqlalchemy peewee",
    "tracker": "jira linear trello asana",
    "chat": "slack discord mattermost",
    "errors": "sentry rollbar bugsnag honeybadger",
    "metrics": "datadog prometheus newrelic grafana influxdb cloudwatch",
    "credentials": "jwt paseto cookie",
    "secrets": "vault doppler sops infisical",
    "identifier": "uuid ulid nanoid cuid snowflakeid",
    "money": "cent float decimal",
    "shell": "bash zsh",
    "server": "nginx apache traefik haproxy envoy",
    "language": "python ruby rust golang java kotlin swift javascript typescript php perl scala elixir haskell",
    "theme": "light dark",
    "english": "british american",
    "quotes": "single double",
}
FAMILIES: dict[str, str] = {word: family for family, words in _FAMILIES.items() for word in words.split()}
"""The group of each value."""

STORES = frozenset(("broker", "database", "search"))
"""Groups of data stores: a store of one group may replace a store of another group."""

SLOTS = frozenset(
    "owner maintainer default name port host hostname url address limit timeout ttl format version database db queue"
    " broker framework language style theme branch manager runner provider lead contact deadline schedule region zone"
    " size threshold interval retention budget timezone locale encoding license path location folder cache store"
    " storage registry bucket cluster domain prefix suffix approach strategy policy cadence frequency day hour"
    " engine backend level reviewer approver channel protocol pool".split()
)
"""Words for properties that have one value at a time."""
