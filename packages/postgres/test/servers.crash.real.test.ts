/**
 * Goal: several servers on one database lose nothing and double nothing, while some are killed, and some are frozen for longer than
 * a turn lasts.
 * Method: processes that add to shared lists and insert a document, in one commit each, and note what they were answered. A checker of
 * histories has the last word.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChildProcess } from 'node:child_process'
import { expect, test } from 'vitest'
import { History, violationsOf, type Note } from '../../../tools/test/history.ts'
import { open } from '../../db/src/index.ts'
import { WRITER_SILENCE_MS_MAX } from '../../db/src/storage/coordinator.ts'
import { spawnTracked, stop } from '../../../tools/processes.ts'
import { EVERYWHERE, timeoutOf, times } from '../../../tools/test/seeds.ts'
import { postgres } from '../src/index.ts'
import { countsOf, endOf } from './lists.ts'
import { newName, onPostgres } from './on-postgres.ts'

const WAITED = /^Pannier: a write has waited .*\n?/gm

class WritingServer {
  readonly process: ChildProcess
  readonly history = new History()
  isClosed = false
  output = ''

  /** `all`: the history of all servers. */
  constructor(url: string, name: string, all: History) {
    const script = join(import.meta.dirname, 'writing-server.ts')
    this.process = spawnTracked(process.execPath, ['--conditions=pannier-source', script, url, name], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let rest = ''
    // One that was frozen for long says so.
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => (this.output += text.replace(WAITED, '')))
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        if (line === 'closed') this.isClosed = true
        else for (const history of [this.history, all]) history.note(JSON.parse(line) as Note)
      }
    })
  }

  async writes(count: number): Promise<void> {
    const before = this.history.acknowledged
    await expect
      .poll(() => this.history.acknowledged + (this.output === '' ? 0 : 1e9))
      .toBeGreaterThanOrEqual(before + count)
    expect(this.output).toBe('')
  }

  async end(): Promise<void> {
    this.process.stdin!.end()
    await expect.poll(() => this.isClosed).toBe(true)
    expect(this.output).toBe('')
  }
}

async function checkAll(url: string, name: string, { operations }: History): Promise<void> {
  await using db = await open(name, { storage: postgres(url) })
  expect(violationsOf(operations, await endOf(db))).toEqual([])
  expect((await db.check()).problems).toEqual([])
  const { done, unknown } = countsOf(operations)
  console.log(`${done} writes acknowledged, ${unknown} of unknown outcome, ${operations.length} operations`)
}

onPostgres((get) => {
  const kills = times(4)
  test(`${kills} servers are killed in the middle of writes`, { timeout: timeoutOf(240_000) }, async () => {
    const { url } = get()
    const name = newName()
    const all = new History()
    const start = (): WritingServer => new WritingServer(url, name, all)
    const running = [start(), start()]
    for (let kill = 0; kill < kills; kill++) {
      const at = kill % running.length
      const victim = running[at]!
      await victim.writes(1 + (kill % 5))
      await stop(victim.process, 'SIGKILL')
      running[at] = start()
      await running[(at + 1) % running.length]!.writes(1)
    }
    for (const server of running) await server.writes(2)
    for (const server of running) await server.end()
    await checkAll(url, name, all)
  })

  test(
    'a server is frozen in the middle of writes for longer than a turn lasts, and thawed',
    { timeout: timeoutOf(240_000) },
    async () => {
      const { url } = get()
      const name = newName()
      const all = new History()
      const [frozen, other] = [new WritingServer(url, name, all), new WritingServer(url, name, all)]
      for (let round = 0; round < times(2); round++) {
        await frozen.writes(2)
        frozen.process.kill('SIGSTOP')
        const before = other.history.acknowledged
        await expect
          .poll(() => other.history.acknowledged, { timeout: 20 * WRITER_SILENCE_MS_MAX })
          .toBeGreaterThan(before + 5)
        // Once for so long that its pins are void, and its log records may be gone.
        if (EVERYWHERE && round === 0) await sleep(60_000)
        frozen.process.kill('SIGCONT')
      }
      await frozen.writes(2)
      for (const server of [frozen, other]) await server.end()
      await checkAll(url, name, all)
    },
  )
})
