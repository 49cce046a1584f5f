/**
 * Starts browsers on profiles. A profile is filled once and visited a few times, so that the engine keeps compiled code. Each measured
 * start is a new browser on a copy of it, which is killed afterwards: all begin alike.
 */
import type { ChildProcess } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { commandOf } from '../../tools/browser/engines.ts'
import type { Engine } from '../../tools/browser/engines.ts'
import { launch, withTimeout } from '../../tools/browser/launch.ts'
import { ended } from '../../tools/browser/run-page.ts'
import { stop } from '../../tools/processes.ts'
import type { DataSet } from '../documents.ts'
import { LINGER_MS } from './page/protocol.ts'
import type { Marks, Order, Report } from './page/protocol.ts'
import type { PageServer } from './server.ts'
import type { Start, Starter } from './starter.ts'
import type { Variant } from './variants.ts'

/** Engines keep compiled code of what they have seen some times. */
const VISITS_BEFORE = 3
const FILL_MS_MAX = 900_000
const VISIT_MS_MAX = 60_000
/** Files whose presence shows that a browser runs in a folder. */
const LOCKS = /^(Singleton.*|lock|\.parentlock)$/

export class Browsers implements Starter {
  readonly #engine: Engine
  readonly #server: PageServer
  readonly #folder: string
  /** Every browser finds its profile at the same path. */
  readonly #profile: string

  constructor(engine: Engine, server: PageServer, folder: string) {
    this.#engine = engine
    this.#server = server
    this.#folder = folder
    this.#profile = join(folder, 'profile')
  }

  async fill(variant: Variant, set: DataSet): Promise<void> {
    const { app, state } = variant
    rmSync(this.#profile, { recursive: true, force: true })
    const query = new URLSearchParams({ app, documents: String(set.documents), seed: String(set.seed) })
    await this.#run(`/network/fill/?${query.toString()}`, FILL_MS_MAX, 'closed')
    for (let visit = 0; visit < VISITS_BEFORE; visit++) {
      for (const way of ['cache', 'service-worker']) await this.#run(pageOf(way, app), VISIT_MS_MAX, 'closed')
    }
    if (state === 'killed') await this.#run(`/network/fill/?${query.toString()}&log=full`, FILL_MS_MAX, 'killed')
    renameSync(this.#profile, this.#kept(variant))
  }

  async start(variant: Variant, way: string): Promise<Start> {
    rmSync(this.#profile, { recursive: true, force: true })
    const filter = (path: string): boolean => !LOCKS.test(basename(path))
    cpSync(this.#kept(variant), this.#profile, { recursive: true, verbatimSymlinks: true, filter })
    // Else the copy is written to the disk while the page waits for it.
    execFileSync('sync')
    this.#server.takeTraffic()
    const report = await this.#run(`/start?${pageOf(way, variant.app)}`, VISIT_MS_MAX, 'killed')
    if (!('marks' in report)) throw new Error('the page reported something else')
    const { requests, bytes } = this.#server.takeTraffic()
    return { agent: report.agent, rows: report.rows, values: { ...stepsOf(report.marks), requests, bytes } }
  }

  forget(variant: Variant): void {
    rmSync(this.#kept(variant), { recursive: true, force: true })
  }

  #kept({ name }: Variant): string {
    return join(this.#folder, name.replaceAll(/\W+/g, '-'))
  }

  /** Gives what the page reported. */
  async #run(path: string, timeoutMs: number, end: 'closed' | 'killed'): Promise<Report> {
    const outcome = Promise.withResolvers<Report>()
    this.#server.onReport = (report): Order => {
      if ('error' in report) outcome.reject(new Error(report.error))
      else outcome.resolve(report)
      return end === 'closed' ? 'close' : ''
    }
    const command = commandOf(this.#engine, { profileDir: this.#profile, remote: false }, `${this.#server.url}${path}`)
    const browser = await launch(command)
    browser.on('exit', (code) => outcome.reject(new Error(`${this.#engine} ended by itself with ${code}`)))
    try {
      return await withTimeout(outcome.promise, timeoutMs, path)
    } finally {
      await this.#end(browser, end)
    }
  }

  async #end(browser: ChildProcess, end: 'closed' | 'killed'): Promise<void> {
    if (end === 'killed') return stop(browser, 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, LINGER_MS))
    if (this.#engine === 'firefox') await ended(browser)
    await stop(browser)
  }
}

function pageOf(delivery: string, app: string): string {
  return `/${delivery}/${app}/`
}

function stepsOf({ downloaded, ran, opened, read, shown, painted }: Marks): Record<string, number> {
  return {
    total: shown,
    download: downloaded,
    run: ran - downloaded,
    open: opened - ran,
    read: read - opened,
    render: shown - read,
    painted,
  }
}
