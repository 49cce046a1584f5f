/**
 * Goal: whatever a query does, and whichever process is killed, others are answered, and answers are right. Nothing of the model stays
 * behind, and nothing of it reaches a file where records are not there as plain text.
 */
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { systemEnvironment } from 'pannier/internal'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { times } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { openBackend, SYSTEM, type Backend } from '../../src/index.ts'
import { SqlRefusal } from '../../src/definitions/views/view-queries.ts'
import { inProcesses, MemberLost } from '../../src/model/members.ts'

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'
const ITSELF = { principal: SYSTEM, request: { context: 'default', method: 'GET', query: {}, headers: {} } }
const TIMEOUT_MS = 300_000

/** Others may have models in the usual one. */
const own = join(tmpdir(), `pannier-model-test-${process.pid}`)
const usual = process.env['TMPDIR']
beforeAll(() => {
  process.env['TMPDIR'] = mkdtempSync(own)
})
afterAll(() => {
  rmSync(tmpdir(), { recursive: true })
  if (usual === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = usual
})

let database: Database
let backend: Backend

async function begin(readModel: 'file' | 'memory', memoryBytesMax?: number): Promise<void> {
  const environment = systemEnvironment()
  database = await open('app', { storage: memory(), environment })
  const start = inProcesses(environment, memoryBytesMax)
  backend = await openBackend(database, { modelHome: { start, isFile: readModel === 'file' } })
  await backend.definitions.create(SYSTEM, { name: 'posts', fields: [{ name: 'n', type: 'number' }] })
  await backend.definitions.create(SYSTEM, { name: 'sums', type: 'view', viewQuery: SUMS })
}
const SUMS = 'SELECT (n % 10) AS id, COUNT(*) AS c, SUM(n) AS s FROM posts GROUP BY 1 ORDER BY 1'

afterEach(async () => {
  await backend.close()
  await database.close()
  expect(processes()).toEqual([])
  expect(folders()).toEqual([])
})

/** Those of the model that a process has started: their ids. */
function processes(of: number = process.pid): readonly number[] {
  const list = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(of)], { encoding: 'utf8' })
  return list.split('\n').flatMap((line) => (line.includes('model-program') ? [Number.parseInt(line, 10)] : []))
}

function folders(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('pannier-model-'))
}

/** Each step doubles the joins of the one before. */
function joins(steps: number): string {
  let query = 'WITH t0 AS (SELECT 1 AS x, 1 AS id)'
  for (let at = 1; at <= steps; at++)
    query += `, t${at} AS (SELECT p.x, p.id FROM t${at - 1} p, t${at - 1} q WHERE p.x = q.x)`
  return `${query} SELECT t${steps}.id AS id FROM t${steps}`
}

async function sums(): Promise<unknown> {
  const { items } = await backend.records.list(ITSELF, 'sums', { perPage: 100 })
  return items.map(({ id, c, s }) => [id, c, s])
}

async function add(n: number): Promise<void> {
  await backend.records.create(ITSELF, 'posts', { n })
}

/** What the view shows, of the numbers that were written. */
function expected(numbers: readonly number[]): unknown {
  const groups = new Map<number, readonly number[]>()
  for (const n of numbers) groups.set(n % 10, [...(groups.get(n % 10) ?? []), n])
  const sorted = [...groups].toSorted(([one], [other]) => one - other)
  return sorted.map(([id, all]) => [String(id), all.length, all.reduce((sum, n) => sum + n, 0)])
}

test.each(['file', 'memory'] as const)(
  'processes are killed at any time (%s)',
  { timeout: TIMEOUT_MS },
  async (place) => {
    await begin(place)
    const random = seededRandom(7)
    const numbers: number[] = []
    for (let turn = 0; turn < times(20); turn++) {
      for (let count = random.below(4); count >= 0; count--) {
        numbers.push(random.below(1000))
        await add(numbers.at(-1)!)
      }
      const asked = sums()
      const running = processes()
      if (running.length > 0) process.kill(random.pick(running), 'SIGKILL')
      const shown = await asked
      expect([turn, shown]).toEqual([turn, expected(numbers)])
      expect([turn, await differences()]).toEqual([turn, []])
    }
  },
)

/** What the check of the server finds: it compares the model with the records. */
async function differences(): Promise<readonly unknown[]> {
  backend.check.start(SYSTEM)
  while (backend.check.show(SYSTEM).running) await new Promise((resolve) => setTimeout(resolve))
  const { problems, error } = backend.check.show(SYSTEM)
  return [...problems, ...(error === '' ? [] : [error])]
}

test('a file that was cut is made again', { timeout: TIMEOUT_MS }, async () => {
  await begin('file')
  const random = seededRandom(5)
  const numbers: number[] = []
  for (let turn = 0; turn < times(10); turn++) {
    for (let count = 0; count < 200; count++) numbers.push(random.below(1000))
    await Promise.all(numbers.slice(-200).map(add))
    expect([turn, await sums()]).toEqual([turn, expected(numbers)])
    const [folder] = folders()
    const file = join(tmpdir(), folder!, random.pick(['model.db', 'model.db-wal']))
    if (existsSync(file)) truncateSync(file, random.below(3) === 0 ? 0 : 100 + random.below(8000))
    numbers.push(random.below(1000))
    await add(numbers.at(-1)!)
    expect([turn, await sums()]).toEqual([turn, expected(numbers)])
    expect([turn, await differences()]).toEqual([turn, []])
  }
})

test(
  'queries that never end, or take all memory, are ended, and others are answered meanwhile',
  async () => {
    await begin('file', 400 << 20)
    await add(1)
    await sums()
    const started = performance.now()
    const greedy = backend.sql.run(SYSTEM, `${ENDLESS} SELECT count(DISTINCT i || hex(zeroblob(5000))) FROM n`)
    const refused = greedy.catch((error: Error) => error.message)
    const waits: number[] = []
    for (let turn = 0; turn < 20; turn++) {
      await add(turn)
      const since = performance.now()
      await sums()
      waits.push(performance.now() - since)
    }
    expect(await refused).toContain(' bytes, and were ended')
    expect(backend.modelFigures()).toMatchObject({ ended: 1, bytes: expect.any(Number) })
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(waits.toSorted((one, other) => one - other)[10]).toBeLessThan(1000)
    expect((await backend.sql.run(SYSTEM, 'SELECT count(*) FROM posts')).rows).toEqual([['21']])
  },
  TIMEOUT_MS,
)

test(
  'a view whose preparation takes long is refused, and the server is not held up',
  async () => {
    await begin('memory')
    let query = 'WITH t0 AS (SELECT n AS x, id FROM posts)'
    for (let at = 1; at <= 20; at++)
      query += `, t${at} AS (SELECT p.x, p.id FROM t${at - 1} p, t${at - 1} q WHERE p.x = q.x)`
    const refused = backend.definitions
      .create(SYSTEM, { name: 'long', type: 'view', viewQuery: `${query} SELECT t20.id AS id FROM t20` })
      .catch((error: unknown) => error)
    let longest = 0
    let isOver = false
    void refused.then(() => (isOver = true))
    for (let last = performance.now(); !isOver; last = performance.now()) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      longest = Math.max(longest, performance.now() - last)
    }
    expect(await refused).toMatchObject({ data: { viewQuery: { code: 'validation_invalid_view_query' } } })
    expect(longest).toBeLessThan(2000)
    await add(3)
    expect(await sums()).toEqual([['3', 1, 3]])
  },
  TIMEOUT_MS,
)

test(
  'a query that is ended takes no other one of its process along',
  async () => {
    database = await open('app', { storage: memory(), environment: systemEnvironment() })
    backend = await openBackend(database)
    const process_ = inProcesses(systemEnvironment())()
    const describe = { kind: 'describe', schema: { tables: [], views: [] } } as const
    const slow = process_.ask<'describe'>(
      { ...describe, query: { name: 'slow', query: joins(20) } },
      { timeMsMax: 500 },
    )
    const other = process_.ask<'describe'>({ ...describe, query: { name: 'other', query: 'SELECT 1 AS id' } })
    const [first, second] = await Promise.allSettled([slow, other])
    await process_.end()
    expect([first, second]).toMatchObject([{ reason: expect.any(SqlRefusal) }, { reason: expect.any(MemberLost) }])
  },
  TIMEOUT_MS,
)

test(
  'nothing runs before it is asked, and no file is made where none may be',
  async () => {
    await begin('memory')
    await add(5)
    expect(folders()).toEqual([])
    expect(await sums()).toEqual([['5', 1, 5]])
    expect(folders()).toEqual([])
    expect(processes().length).toBeLessThanOrEqual(2)
  },
  TIMEOUT_MS,
)

test(
  'a process ends whose server was gone before it looked for it, also amid a statement that never ends',
  async () => {
    await begin('memory')
    const program = new URL('../../src/model/model-program.ts', import.meta.url)
    const gone = spawn(process.execPath, ['--version'])
    await once(gone, 'exit')
    const member = fork(program, [String(1 << 30), String(gone.pid)], {
      serialization: 'advanced',
      execArgv: ['--conditions=pannier-source'],
    })
    await once(member, 'message')
    const request = { kind: 'run', schema: { tables: [], views: [] }, statements: `${ENDLESS} SELECT count(*) FROM n` }
    member.send({ id: 1, request })
    expect(await once(member, 'exit')).toEqual([null, 'SIGKILL'])
  },
  TIMEOUT_MS,
)

test(
  'processes end with a server that was killed, also amid a statement that never ends',
  async () => {
    await begin('memory')
    const program = join(import.meta.dirname, 'endless-program.ts')
    const server = spawn(process.execPath, ['--conditions=pannier-source', program])
    await once(server.stdout!, 'data')
    const running = processes(server.pid)
    expect(running.length).toBeGreaterThan(1)
    server.kill('SIGKILL')
    const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`)
    while (running.some(isThere)) await new Promise((resolve) => setTimeout(resolve, 50))
  },
  TIMEOUT_MS,
)
