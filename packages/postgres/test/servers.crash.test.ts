/**
 * Goal: several servers on one database lose nothing and double nothing, while some are killed, and some are frozen for longer than
 * a turn lasts.
 * Method: processes that add to a counter and insert a document, in one group commit each. At the end the counter is the number of
 * their documents, and each acknowledged document is there.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChildProcess } from 'node:child_process'
import { expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import { WRITER_SILENCE_MS_MAX } from '../../db/src/storage/coordinator.ts'
import { spawnTracked, stop } from '../../../tools/processes.ts'
import { EVERYWHERE, timeoutOf, times } from '../../../tools/test/seeds.ts'
import { postgres } from '../src/index.ts'
import { onPostgres } from './on-postgres.ts'

interface Item {
  readonly n: number
}

class WritingServer {
  readonly process: ChildProcess
  readonly tried: string[] = []
  readonly done: string[] = []
  isClosed = false
  output = ''

  constructor(url: string, name: string) {
    const script = join(import.meta.dirname, 'writing-server.ts')
    this.process = spawnTracked(process.execPath, ['--conditions=pannier-source', script, url, name], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let rest = ''
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const [word, id = ''] = line.split(' ')
        if (word === 'try') this.tried.push(id)
        else if (word === 'done') this.done.push(id)
        else if (word === 'closed') this.isClosed = true
      }
    })
  }

  async writes(count: number): Promise<void> {
    const before = this.done.length
    await expect
      .poll(() => this.done.length + (this.output === '' ? 0 : 1e9), { timeout: 60_000 })
      .toBeGreaterThanOrEqual(before + count)
    expect(this.output).toBe('')
  }

  async end(): Promise<void> {
    this.process.stdin!.end()
    await expect.poll(() => this.isClosed, { timeout: 60_000 }).toBe(true)
    expect(this.output).toBe('')
  }
}

async function checkAll(url: string, name: string, servers: readonly WritingServer[]): Promise<void> {
  await using db = await open(name, { storage: postgres(url) })
  const items = db.collection<Item>('items')
  const ids = new Set((await items.find().fields('_id').toArray()).map(({ _id }) => _id))
  for (const { done } of servers) expect(done.filter((id) => !ids.has(id))).toEqual([])
  const tried = new Set(['counter', ...servers.flatMap((server) => server.tried)])
  expect([...ids].filter((id) => !tried.has(id))).toEqual([])
  expect((await items.get('counter'))!.n).toBe(ids.size - 1)
  expect((await db.check()).problems).toEqual([])
}

async function newDatabase(url: string): Promise<string> {
  const name = randomUUID()
  await using db = await open(name, { storage: postgres(url) })
  await db.collection<Item>('items').insert({ _id: 'counter', n: 0 })
  return name
}

onPostgres((get) => {
  const kills = times(4)
  test(`${kills} servers are killed in the middle of writes`, { timeout: timeoutOf(240_000) }, async () => {
    const { url } = get()
    const name = await newDatabase(url)
    const all: WritingServer[] = []
    const start = (): WritingServer => {
      const server = new WritingServer(url, name)
      all.push(server)
      return server
    }
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
      const name = await newDatabase(url)
      const [frozen, other] = [new WritingServer(url, name), new WritingServer(url, name)]
      for (let round = 0; round < times(2); round++) {
        await frozen.writes(2)
        frozen.process.kill('SIGSTOP')
        const before = other.done.length
        await expect.poll(() => other.done.length, { timeout: 20 * WRITER_SILENCE_MS_MAX }).toBeGreaterThan(before + 5)
        // Once for so long that its pins are void, and its log records may be gone.
        if (EVERYWHERE && round === 0) await sleep(60_000)
        frozen.process.kill('SIGCONT')
      }
      await frozen.writes(2)
      for (const server of [frozen, other]) await server.end()
      await checkAll(url, name, [frozen, other])
    },
  )
})
