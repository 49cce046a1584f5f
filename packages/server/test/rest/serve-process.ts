/** A server in a process of its own, by the command line, for tests that kill it. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../test-server.ts'
import { call, EMAIL, PASSWORD, tokenFor } from './rest-server.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
const START_MS_MAX = 120_000
const NODE = ['--conditions=pannier-source', MAIN]

export class ServeProcess implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly url: string
  readonly token: string

  static async start(dir: string): Promise<ServeProcess> {
    const child = spawn(process.execPath, [...NODE, 'serve', '--dir', dir, '--port', '0'])
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    let problems = ''
    child.stderr.on('data', (chunk: Buffer) => (problems += chunk.toString()))
    // Hundreds of kills leave much to do, and others use the machine too.
    const late = AbortSignal.timeout(START_MS_MAX)
    while (!out.includes('\n') && child.exitCode === null && !late.aborted) await sleep(10)
    if (!out.includes('\n')) throw new Error(`The server does not start (exit code ${child.exitCode}): ${problems}`)
    const url = /http:\/\/\S+/.exec(out)![0]
    return new ServeProcess(child, url, await tokenFor(url, '_superusers', EMAIL, PASSWORD))
  }

  /** Makes the superuser of `start`. */
  static async prepare(dir: string): Promise<void> {
    const made = spawn(process.execPath, [...NODE, 'superuser', 'upsert', EMAIL, PASSWORD, '--dir', dir])
    await once(made, 'close')
  }

  private constructor(child: ChildProcess, url: string, token: string) {
    this.#process = child
    this.url = url
    this.token = token
  }

  /** As the superuser. */
  call(request: string, body?: unknown): Promise<Answer> {
    return call(this.url, request, body, this.token)
  }

  /** Kills it by SIGKILL. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'close')
  }
}
