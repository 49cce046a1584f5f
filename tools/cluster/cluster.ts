/** A PostgreSQL cluster that fails over by itself, for tests: three nodes of Patroni, etcd and HAProxy, by `cluster.sh`. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { makeFolder, run } from '../processes.ts'
import { notRun } from '../test/not-run.ts'

const SCRIPT = join(import.meta.dirname, 'cluster.sh')
const PROGRAMS = ['/usr/bin/etcd', '/usr/bin/patroni', '/usr/sbin/haproxy', '/usr/lib/postgresql']
/** After that a primary that is gone has lost its office. */
export const TTL_SECONDS = 5
const LOG_LINES = 40

export class Cluster implements AsyncDisposable {
  readonly #folder: string
  readonly #isSynchronous: boolean

  /** Ends a case where a program is missing. */
  static need(context: TestContext): void {
    const isThere = PROGRAMS.every((path) => existsSync(path))
    if (!isThere) notRun(context, 'a cluster (apt-get install postgresql patroni etcd-server haproxy)')
  }

  /** Where commits are synchronous an acknowledged one is on two nodes. */
  static async start({ isSynchronous }: { readonly isSynchronous: boolean }): Promise<Cluster> {
    const cluster = new Cluster(makeFolder('cluster'), isSynchronous)
    await cluster.#run('start')
    return cluster
  }

  private constructor(folder: string, isSynchronous: boolean) {
    this.#folder = folder
    this.#isSynchronous = isSynchronous
  }

  /** Leads to the primary, whichever node that is. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${readFileSync(join(this.#folder, 'port'), 'utf8').trim()}/postgres`
  }

  /** The node that leads is gone at once, as by a power cut. Gives its name. `isLagging`: its standbys have heard nothing for a moment. */
  async killPrimary(isLagging = false): Promise<string> {
    const node = (await this.#run('primary')).trim()
    if (isLagging) await this.#run('lag', node)
    await this.#run('kill', node)
    return node
  }

  /** The last lines of each node, of etcd and of HAProxy. */
  logs(): string {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.log'))
    const tails = names.map((name) => {
      const lines = readFileSync(join(this.#folder, name), 'utf8').trim().split('\n')
      return `${name}:\n${lines.slice(-LOG_LINES).join('\n')}`
    })
    return tails.join('\n\n')
  }

  /** Resolves when it follows the one that leads now. */
  async revive(node: string): Promise<void> {
    await this.#run('revive', node)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    spawnSync('bash', [SCRIPT, 'stop', this.#folder])
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #run(command: string, ...parameters: readonly string[]): Promise<string> {
    const env = { ...process.env, TTL: String(TTL_SECONDS), SYNCHRONOUS: String(this.#isSynchronous) }
    const { code, output } = await run('bash', [SCRIPT, command, this.#folder, ...parameters], { env })
    if (code !== 0) throw new Error(`cluster.sh ${command} failed: ${output}\n${this.logs()}`)
    return output
  }
}
