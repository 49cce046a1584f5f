/** A process that writes until it is killed: `node killed-writer.ts FOLDER`. Tells what was acknowledged, a number a line. */
import { writeSync } from 'node:fs'
import { someCommit, somePage, someRecord } from '../../testing/conformance/page-store-fixture.ts'
import type { PageId } from '../../src/base/brand.ts'
import { openInFolder } from './node-files.ts'

/** Every so many records there is a commit, which brings pages and frees those of the one before. */
export const RECORDS_PER_COMMIT = 7
export const PAGES_PER_COMMIT = 5
const RECORD_BYTES = 20_000

export function recordAt(sequence: number): ReturnType<typeof someRecord> {
  return someRecord(sequence, 1 + ((sequence * 7919) % RECORD_BYTES))
}

export function pagesOf(generation: number): ReturnType<typeof somePage>[] {
  const first = generation * PAGES_PER_COMMIT
  return Array.from({ length: PAGES_PER_COMMIT }, (_, index) => somePage(first + index, 9000 + index * 5000))
}

if (process.argv[1] === import.meta.filename) {
  const database = openInFolder(process.argv[2]!)
  const { meta, log } = database.read(undefined)
  let generation: number = meta?.generation ?? 0
  let sequence: number = log.at(-1)?.sequence ?? meta?.sequence ?? 0
  for (;;) {
    // Also when a process before this one was killed in between.
    if (generation < Math.floor(sequence / RECORDS_PER_COMMIT)) {
      generation++
      const free = pagesOf(generation - 1).map(({ id }) => id)
      const commit = { pages: pagesOf(generation), free, firstNewPageId: (generation * PAGES_PER_COMMIT) as PageId }
      database.commit(someCommit(generation, sequence - 2, commit), false)
    }
    database.append(recordAt(++sequence), sequence % 3 === 0 ? 'strict' : 'relaxed', undefined, false)
    writeSync(1, `${sequence}\n`)
  }
}
