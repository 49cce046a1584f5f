/** Goal: on LevelDB what a process has acknowledged is there after SIGKILL, at whatever moment that comes. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { seededRandom } from '../../testing/random.ts'
import { classicLevel } from '../storage/classic-level.ts'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'

const KILLS = times(3)
const SEED = FIRST_SEED

const folder = mkdtempSync(join(tmpdir(), 'pannier-level-'))
afterAll(() => rmSync(folder, { recursive: true }))

test(`${KILLS} kills, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const random = seededRandom(SEED)
  const path = join(folder, 'killed')
  let acknowledged = 0
  for (let kill = 0; kill < KILLS; kill++) {
    acknowledged = await writeUntilKilled(path, random.below(400), random.pick(['relaxed', 'strict']))
    const db = await open(path, { storage: classicLevel() })
    expect((await db.check()).problems).toEqual([])
    const docs = db.collection('docs')
    const count = await docs.find().count()
    // Each batch is there whole, without gaps, and so is everything acknowledged.
    expect(count % BATCH).toBe(0)
    expect(count).toBeGreaterThanOrEqual(acknowledged)
    const last = await docs.get(`d${count - 1}`)
    expect(count === 0 ? undefined : last?.['n']).toBe(count === 0 ? undefined : count - 1)
    await db.close()
  }
  expect(acknowledged).toBeGreaterThan(0)
})

const BATCH = 3

/** A process that inserts batch after batch and prints how many documents are acknowledged; killed some milliseconds later. */
const WRITER = `
  import { open } from ${JSON.stringify(new URL('../../src/database/lifecycle/open.ts', import.meta.url).href)}
  import { classicLevel } from ${JSON.stringify(new URL('../storage/classic-level.ts', import.meta.url).href)}
  const [path, durability] = process.argv.slice(1)
  const db = await open(path, { storage: classicLevel(), durability })
  const docs = db.collection('docs', { indexes: ['n'] })
  for (let n = await docs.find().count(); ; n += ${BATCH}) {
    const filling = 'x'.repeat(n % 7 === 0 ? 20_000 : 500)
    const batch = Array.from({ length: ${BATCH} }, (_, at) => ({ _id: 'd' + (n + at), n: n + at, filling }))
    await docs.insert(batch)
    console.log(n + ${BATCH})
  }
`

async function writeUntilKilled(path: string, delayMs: number, durability: string): Promise<number> {
  const parameters = ['--conditions=pannier-source', '--input-type=module', '-e', WRITER, path, durability]
  const writer = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
  let acknowledged = 0
  for await (const line of createInterface({ input: writer.stdout })) {
    if (acknowledged === 0) setTimeout(() => writer.kill('SIGKILL'), delayMs)
    acknowledged = Number(line)
  }
  return acknowledged
}
