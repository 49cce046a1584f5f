/** A Pannier server in a process of its own that is killed or restarted while others talk to it, always at the same address. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { freePort } from '../../../tools/processes.ts'
import { startProcess } from './processes.ts'
import type { ServerProcess } from './processes.ts'

export class MiddleServer {
  readonly url: string
  /** How often it was ended. */
  kills = 0
  closes = 0
  readonly #dir: string
  #process: ServerProcess
  #restarting: Promise<void> | undefined

  constructor(dir: string, first: ServerProcess) {
    this.url = first.url
    this.#dir = dir
    this.#process = first
  }

  static async start(): Promise<MiddleServer> {
    const dir = await mkdtemp(join(tmpdir(), 'pannier-middle-'))
    return new MiddleServer(dir, await startProcess('pannier-process.ts', [dir, String(await freePort())]))
  }

  /** If it is being restarted already, that is that. */
  restart(how: 'kill' | 'close'): void {
    this.#restarting ??= this.#restart(how).finally(() => (this.#restarting = undefined))
  }

  /** Gives what is wrong with its file. */
  async end(): Promise<readonly string[]> {
    await this.#restarting
    await this.#process.kill()
    const db = await open(join(this.#dir, 'pannier.sqlite'))
    const { problems } = await db.check()
    await db.close()
    await rm(this.#dir, { recursive: true, force: true })
    return problems.map(({ message }) => message)
  }

  async #restart(how: 'kill' | 'close'): Promise<void> {
    if (how === 'kill') this.kills++
    else this.closes++
    await this.#process[how]()
    this.#process = await startProcess('pannier-process.ts', [this.#dir, new URL(this.url).port])
  }
}
