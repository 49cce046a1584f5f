/** Goal: kill -9 in the midst of a backup or of a restore leaves whole backups, and the old data or the new ones. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { RestoreFolder } from '@pannier/backend/internal'
import { seededRandom } from '../../../db/testing/random.ts'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { ServeProcess } from './serve-process.ts'

const ROUNDS = times(3)
const DELAY_MS_MAX = 400

async function textsOf(child: ServeProcess): Promise<string[]> {
  const { json } = await child.call('GET /collections/notes/records?perPage=1000&sort=text')
  return (json['items'] as { text: string }[]).map(({ text }) => text)
}

/** Throws if one of the backups can't be restored. */
async function checkBackups(dir: string): Promise<readonly string[]> {
  const names = await readdir(join(dir, 'backups'))
  for (const name of names) {
    const other = await mkdtemp(join(tmpdir(), 'pannier-checked-'))
    await new RestoreFolder(other).prepare(join(dir, 'backups', name), {})
    await rm(other, { recursive: true })
  }
  return names
}

test(`${ROUNDS} kills (SEED=${FIRST_SEED})`, { timeout: 120_000 + ROUNDS * 30_000 }, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-backup-kill-'))
  const chance = seededRandom(FIRST_SEED)
  await ServeProcess.prepare(dir)
  let child = await ServeProcess.start(dir)
  const outcomes = { old: 0, new: 0 }
  try {
    await child.call('POST /collections', { name: 'notes', type: 'base', fields: [{ name: 'text', type: 'text' }] })
    const texts = Array.from({ length: 50 }, (_, at) => `base${at}`).sort()
    for (const text of texts) await child.call('POST /collections/notes/records', { text })
    expect((await child.call('POST /backups', { name: 'base.zip' })).status).toBe(204)
    let expected: readonly string[] = texts
    for (let round = 0; round < ROUNDS; round++) {
      const text = `round${round}`
      expect((await child.call('POST /collections/notes/records', { text })).status).toBe(200)
      const before = [...expected, text].sort()
      const isRestore = round % 2 === 0
      const request = isRestore ? 'POST /backups/base.zip/restore' : 'POST /backups'
      let answered = 0
      const asked = child
        .call(request, isRestore ? undefined : { name: `b${round}.zip` })
        .then(({ status }) => (answered = status))
        .catch(() => 0)
      await sleep(chance.below(DELAY_MS_MAX))
      await child[Symbol.asyncDispose]()
      await asked
      child = await ServeProcess.start(dir)
      const after = await textsOf(child)
      const names = await checkBackups(dir)
      expect(names.filter((name) => !/^(?:base|b\d+)\.zip$/.test(name))).toEqual([])
      if (isRestore && (answered === 204 || after.length < before.length)) {
        expect(after).toEqual(texts)
        outcomes.new++
      } else {
        expect(after).toEqual(before)
        if (answered === 204) expect(names).toContain(`b${round}.zip`)
        outcomes.old++
      }
      expected = after
    }
  } finally {
    await child[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  }
  if (ROUNDS > 10) console.log(JSON.stringify(outcomes))
})
