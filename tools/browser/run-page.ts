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
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, removeFolder, stop } from '../processes.ts'
import { commandOf, type Engine, type EngineOptions } from './engines.ts'
import { launch } from './launch.ts'
import { servePages } from './page-server.ts'

export interface RunPageOptions {
  /** Path of the TypeScript that the page runs. */
  readonly entry: string
  /** Seen by the page as `location.search`. */
  readonly query?: Readonly<Record<string, string>>
  /** Files that the page may fetch, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** Kept; without it the browser starts empty and everything is removed afterwards. */
  readonly profileDir?: string
  /** Longest time without a word from the page. */
  readonly timeoutMs: number
  readonly quotaBytes?: number
  readonly privateMode?: boolean
  readonly features?: readonly string[]
  onProgress?(value: unknown): void
}

/** What pages post. */
type Report =
  | { readonly type: 'progress'; readonly value: unknown }
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: { readonly message: string; readonly stack?: string } }

/** Resolves with what the page gave to `done`. */
export async function runPage(engine: Engine, options: RunPageOptions): Promise<unknown> {
  const profileDir = options.profileDir ?? makeFolder(engine)
  const outcome = Promise.withResolvers<unknown>()
  let timer: NodeJS.Timeout | undefined
  const restartTimer = (): void => {
    clearTimeout(timer)
    const message = `the page in ${engine} was silent for ${options.timeoutMs} ms`
    timer = setTimeout(() => outcome.reject(new Error(message)), options.timeoutMs)
  }
  const onReport = (report: unknown): void => {
    restartTimer()
    const posted = report as Report
    if (posted.type === 'done') outcome.resolve(posted.value)
    else if (posted.type === 'failed') outcome.reject(pageError(posted.error))
    else options.onProgress?.(posted.value)
  }
  const entries = { page: options.entry }
  const port = readPort(profileDir)
  await using server = await servePages({
    entries,
    onReport,
    ...(options.files && { files: options.files }),
    ...(port !== undefined && { port }),
  })
  writeFileSync(portFile(profileDir), String(server.port))
  restartTimer()
  const url = `${server.baseUrl}/page?${new URLSearchParams(options.query ?? {}).toString()}`
  const browser = await launch(commandOf(engine, engineOptions(options, profileDir), url))
  browser.on('error', (error) => outcome.reject(error))
  browser.on('exit', (code) => outcome.reject(new Error(`${engine} ended by itself with ${code}`)))
  try {
    return await outcome.promise
  } finally {
    clearTimeout(timer)
    await stop(browser)
    if (options.profileDir === undefined) removeFolder(profileDir)
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
