/** The figures of `/metrics`, in the format of Prometheus. */
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { onAnswered } from './running-requests.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Metrics {
  readonly registry: Registry = new Registry()
  readonly openFeeds: Gauge<'feed'>
  readonly commits: Counter
  readonly #requests: Counter<'method' | 'route' | 'status'>
  readonly #seconds: Histogram<'method'>

  constructor() {
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry })
    this.openFeeds = new Gauge({
      name: 'pannier_open_feeds',
      help: 'Change feeds that are being sent.',
      labelNames: ['feed'],
      registers,
    })
    this.commits = new Counter({
      name: 'pannier_commits_total',
      help: 'Commits of the database, of this process or of another.',
      registers,
    })
    this.#requests = new Counter({
      name: 'pannier_http_requests_total',
      help: 'Requests that were answered.',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'pannier_http_request_seconds',
      help: 'Time until an answer was sent; of feeds, until they ended.',
      labelNames: ['method'],
      buckets: SECONDS,
      registers,
    })
  }

  /** Adds a gauge: a figure that is read when somebody asks for it. */
  addGauge(name: string, help: string, read: () => number): void {
    const registers = [this.registry]
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) })
  }

  /** Counts every request under its route, so that names of documents make no labels. */
  observe(app: FastifyInstance): void {
    const counters = new Map<string, Counter.Internal>()
    const timers = new Map<string, Histogram.Internal<'method'>>()
    onAnswered(app, ({ method, routeOptions: { url: route = 'none' } }, { statusCode }, ms) => {
      const status = String(statusCode)
      const counted = kept(counters, `${method} ${status} ${route}`, () =>
        this.#requests.labels({ method, route, status }),
      )
      counted.inc()
      kept(timers, method, () => this.#seconds.labels({ method })).observe(ms / 1000)
    })
  }
}

/** Labels are few, and dear to look up. */
function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  let found = known.get(key)
  if (found === undefined) known.set(key, (found = make()))
  return found
}
