/**
 * Goal: a process that is killed while it migrates leaves the database as it was, or migrated, and never between. The next run
 * completes it. Method: kill -9 of the real command at random times, from its start to its end.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SYSTEM } from '@pannier/backend'
import { seededRandom } from '../../../db/testing/random.ts'
import { FIRST_SEED, timeoutOf, times } from '../../../../tools/test/seeds.ts'
import { startServer } from '../test-server.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
const ROUNDS = times(5)
const RECORDS = 200

const MIGRATION = `
export async function up(app: any): Promise<void> {
  await app.createCollection({ name: 'tags', fields: [{ name: 'label', type: 'text' }] })
  for (let n = 0; n < ${RECORDS}; n++) await app.save(app.newRecord('posts', { title: 'new ' + n }))
  await app.updateSettings({ meta: { appName: 'Migrated' } })
}
`

async function state(dir: string): Promise<string> {
  const { server, close } = await startServer({ dir })
  try {
    const { definitions, app, settings } = server.backend
    const count = await app.countRecords('posts')
    return `${definitions.find('tags') === undefined ? 'no tags' : 'tags'}, ${count} posts, ${settings.values.meta.appName}`
  } finally {
    await close()
  }
}

/** To its end, or until it is killed. */
async function migrate(dir: string, killAfterMs?: number): Promise<void> {
  const child = spawn(process.execPath, ['--conditions=pannier-source', MAIN, 'migrate', 'up', '--dir', dir])
  const ended = once(child, 'close')
  if (killAfterMs !== undefined) {
    await Promise.race([ended, sleep(killAfterMs)])
    child.kill('SIGKILL')
  }
  await ended
}

test(`kill -9 while it migrates, ${ROUNDS} times (SEED=${FIRST_SEED})`, { timeout: timeoutOf(240_000) }, async () => {
  const random = seededRandom(FIRST_SEED)
  /** The first one is not killed. */
  let wholeMs = 0
  for (let round = 0; round < ROUNDS; round++) {
    const dir = await mkdtemp(join(tmpdir(), 'pannier-migrate-'))
    try {
      await mkdir(join(dir, 'migrations'))
      const server = await startServer({ dir })
      const { definitions, app } = server.server.backend
      await definitions.create(SYSTEM, { name: 'posts', fields: [{ name: 'title', type: 'text' }] })
      await app.save(app.newRecord('posts', { title: 'old' }))
      await server.close()
      await writeFile(join(dir, 'migrations/1_more.ts'), MIGRATION)
      const began = performance.now()
      if (round === 0) await migrate(dir)
      else await migrate(dir, random.below(wholeMs))
      const ms = performance.now() - began
      const found = await state(dir)
      if (round === 0) wholeMs = Math.round(ms)
      expect(['no tags, 1 posts, Acme', `tags, ${RECORDS + 1} posts, Migrated`]).toContain(found)
      await migrate(dir)
      expect(await state(dir)).toBe(`tags, ${RECORDS + 1} posts, Migrated`)
      expect((await readdir(dir)).filter((name) => name.includes('unfinished'))).toEqual([])
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }
})
