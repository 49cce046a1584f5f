/**
 * Runs one page in a browser that nobody drives: the browser is started with the address of the page, and the page posts
 * what it finds. This is how a person's browser runs: WebKit, too, keeps what it stores on disk, and nothing listens in.
 *
 *     const result = await runPage('firefox', { entry: 'bench/pages/insert.ts', query: { count: '1000' }, timeoutMs: 60_000 })
 *
 * The entry is TypeScript that calls `done(value)` of page/report.ts once, after any number of `progress(value)`. With the
 * same `profileDir` a later run finds what an earlier one has stored: the port is kept there, as it is part of the origin.
 * The page fails the run with `failed(error)`, with an error that nobody catches, or by being silent for `timeoutMs`.
 */
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, removeFolder, stop } from '../processes.ts'
import type { Browser } from './browser.ts'
import { commandOf, type Engine, type EngineOptions } from './engines.ts'
import { launch } from './launch.ts'
import { servePages } from './page-server.ts'

export interface PageOptions {
  /** Path of the TypeScript that the page runs. */
  readonly entry: string
  /** Seen by the page as `location.search`. */
  readonly query?: Readonly<Record<string, string>>
  /** Files that the page may fetch, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** Longest time without a word from the page. */
  readonly timeoutMs: number
  onProgress?(value: unknown): void
}

export interface RunPageOptions extends PageOptions {
  /** Kept; without it the browser starts empty and everything is removed afterwards. */
  readonly profileDir?: string
  readonly quotaBytes?: number
  readonly privateMode?: boolean
  readonly features?: readonly string[]
}

const QUIT_MS_MAX = 10_000

/** The message of a page. */
type Report =
  | { readonly type: 'progress'; readonly value: unknown }
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: { readonly message: string; readonly stack?: string } }

/** Resolves with what the page gave to `done`. */
export async function runPage(engine: Engine, options: RunPageOptions): Promise<unknown> {
  const profileDir = options.profileDir ?? makeFolder(engine)
  let browser: ChildProcess | undefined
  try {
    const [, value] = await attend(options, readPort(profileDir), async ({ url, port, fail }) => {
      writeFileSync(portFile(profileDir), String(port))
      browser = await launch(commandOf(engine, engineOptions(options, profileDir), url))
      browser.on('error', fail)
      browser.on('exit', (code) => fail(new Error(`${engine} ended by itself with ${code}`)))
    })
    if (engine === 'firefox') await ended(browser!)
    return value
  } finally {
    if (browser !== undefined) await stop(browser)
    if (options.profileDir === undefined) removeFolder(profileDir)
  }
}

/**
 * Waits a while for Firefox to end by itself: its page may close its window (`quit`). A signal kills Firefox at once, before IndexedDB has
 * brought its journal into its file, and the next start would be measured with that.
 */
export function ended(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, QUIT_MS_MAX)
    browser.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** As `runPage`, in a tab of a browser that is driven. It is left open if it fails. */
export async function runTab(browser: Browser, options: PageOptions): Promise<unknown> {
  const [page, value] = await attend(options, undefined, ({ url }) => browser.open(url))
  await page.close()
  return value
}

/** Where the page is to be opened, and what ends the wait for it. */
interface Visit {
  readonly url: string
  readonly port: number
  fail(error: Error): void
}

/** Serves the page until it has ended; gives what came of opening it, and what it gave to `done`. */
async function attend<T>(
  { entry, query = {}, files = {}, timeoutMs, onProgress }: PageOptions,
  port: number | undefined,
  open: (visit: Visit) => Promise<T>,
): Promise<[opened: T, value: unknown]> {
  const outcome = Promise.withResolvers<unknown>()
  let timer: NodeJS.Timeout | undefined
  const restartTimer = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => outcome.reject(new Error(`the page was silent for ${timeoutMs} ms`)), timeoutMs)
  }
  const onReport = (report: unknown): void => {
    restartTimer()
    const posted = report as Report
    if (posted.type === 'done') outcome.resolve(posted.value)
    else if (posted.type === 'failed') outcome.reject(pageError(posted.error))
    else onProgress?.(posted.value)
  }
  await using server = await servePages({
    entries: { page: entry },
    files,
    onReport,
    ...(port !== undefined && { port }),
  })
  restartTimer()
  const url = `${server.baseUrl}/page?${new URLSearchParams(query).toString()}`
  try {
    return await Promise.all([open({ url, port: server.port, fail: outcome.reject }), outcome.promise])
  } finally {
    clearTimeout(timer)
  }
}

function engineOptions({ quotaBytes, privateMode, features }: RunPageOptions, profileDir: string): EngineOptions {
  return {
    profileDir,
    remote: false,
    ...(quotaBytes !== undefined && { quotaBytes }),
    ...(privateMode !== undefined && { privateMode }),
    ...(features !== undefined && { features }),
  }
}

function pageError(posted: { readonly message: string; readonly stack?: string }): Error {
  const error = new Error(posted.message)
  if (posted.stack !== undefined) error.stack = posted.stack
  return error
}

function portFile(profileDir: string): string {
  return join(profileDir, 'pannier-port')
}

function readPort(profileDir: string): number | undefined {
  try {
    return Number(readFileSync(portFile(profileDir), 'utf8'))
  } catch {
    return undefined
  }
}
