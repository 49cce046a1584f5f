/**
 * Goal: what a process has acknowledged is in its files after it was killed, and the next one goes on with them.
 * Method: real processes on real files (killed-writer.ts), one after another in the same folder, each killed at a random moment.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { someMeta } from '../../testing/conformance/page-store-fixture.ts'
import { seededRandom } from '../../testing/random.ts'
import { pagesOf, recordAt, RECORDS_PER_COMMIT } from './killed-writer.ts'
import { openInFolder } from './node-files.ts'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'

const KILLS = times(4)
const SEED = FIRST_SEED
const RECORDS_MAX = 60

/** Lets it acknowledge this number of records; gives the last that was acknowledged when it was dead. */
async function writeAndKill(folder: string, records: number): Promise<number> {
  const script = join(import.meta.dirname, 'killed-writer.ts')
  const child = spawn(process.execPath, ['--conditions=pannier-source', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (text.split('\n').length > records) child.kill('SIGKILL')
  })
  await new Promise((resolve) => child.on('close', resolve))
  return Number(text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1))
}

test(`${KILLS} processes are killed (replay: SEED=${SEED})`, { timeout: 600_000 }, async () => {
  const random = seededRandom(SEED)
  const folder = mkdtempSync(join(tmpdir(), 'pannier-killed-'))
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const acknowledged = await writeAndKill(folder, 1 + random.below(RECORDS_MAX))
      const database = openInFolder(folder)
      const { meta, log } = database.read(undefined)
      const sequence = log.at(-1)!.sequence
      expect(sequence).toBeGreaterThanOrEqual(acknowledged)
      expect(log).toEqual(log.map((record) => recordAt(record.sequence)))
      // The commit after a record may have happened or not.
      const generation = meta?.generation ?? 0
      const due = Math.floor(sequence / RECORDS_PER_COMMIT)
      expect([due, due - (sequence % RECORDS_PER_COMMIT === 0 ? 1 : 0)]).toContain(generation)
      if (generation > 0) expect(meta).toEqual(someMeta(generation, generation * RECORDS_PER_COMMIT - 2))
      const pages = generation === 0 ? [] : pagesOf(generation)
      expect(database.listPages()).toEqual(pages.map(({ id }) => id))
      if (pages.length > 0)
        expect(database.readPages(pages.map(({ id }) => id))).toEqual(pages.map(({ bytes }) => bytes))
      database.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
