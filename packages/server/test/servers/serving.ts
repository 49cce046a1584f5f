/** Servers in processes of their own on one PostgreSQL, by the command line. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnTracked, stop } from '../../../../tools/processes.ts'
import { EMAIL, PASSWORD } from '../rest/rest-server.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
const START_MS_MAX = 120_000

export class Serving implements AsyncDisposable {
  readonly process: ChildProcess
  /** What it has written to both outputs. */
  output = ''

  /** It may not listen yet. */
  constructor(storage: string, parameters: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
    const given = ['serve', '--storage', storage, '--port', '0', ...parameters]
    this.process = spawnTracked(process.execPath, ['--conditions=pannier-source', MAIN, ...given], {
      env: { ...process.env, PANNIER_SUPERUSER: `${EMAIL}:${PASSWORD}`, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.process.stdout!, this.process.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text))
  }

  /** Resolves when it listens. */
  static async start(storage: string, parameters: readonly string[] = []): Promise<Serving> {
    const serving = new Serving(storage, parameters)
    await serving.says(/listens at/)
    return serving
  }

  get url(): string {
    return /http:\/\/\S+/.exec(this.output)![0]
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  async says(text: RegExp): Promise<void> {
    const late = AbortSignal.timeout(START_MS_MAX)
    while (!text.test(this.output)) {
      if (late.aborted || this.process.exitCode !== null) throw new Error(`The server does not say it: ${this.output}`)
      await sleep(20)
    }
  }

  /** The exit code. */
  async ends(): Promise<number | null> {
    if (this.process.exitCode === null) await new Promise((resolve) => this.process.once('close', resolve))
    return this.process.exitCode
  }

  kill(): Promise<void> {
    return stop(this.process, 'SIGKILL')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stop(this.process, 'SIGKILL')
  }
}
