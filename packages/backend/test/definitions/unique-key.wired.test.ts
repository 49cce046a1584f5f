/** Goal: a unique index of any form takes and refuses the records that SQLite's own takes and refuses. */
import { DatabaseSync } from 'node:sqlite'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import type { Definition } from '../../src/definitions/definition.ts'
import { parseIndex } from '../../src/definitions/index-statement.ts'
import { libraryIndexOf } from '../../src/definitions/library-index.ts'
import {
  oddBody,
  oddRecord,
  UNIQUE_BODIES,
  UNIQUE_FIELDS,
  uniqueRecord,
  type UniqueRecord,
} from './unique-conditions.ts'

const RECORDS = 24
const BATCH = 12

/** As PocketBase declares them. */
const TABLE = `CREATE TABLE t (slug TEXT DEFAULT '' NOT NULL, title TEXT DEFAULT '' NOT NULL, n NUMERIC DEFAULT 0 NOT NULL,
  flag BOOLEAN DEFAULT FALSE NOT NULL, day TEXT DEFAULT '' NOT NULL, tags JSON DEFAULT '[]' NOT NULL, data JSON DEFAULT NULL)`

const DEFINITION = { id: 't', name: 't', type: 'base', fields: UNIQUE_FIELDS } as unknown as Definition

const PARTS = 4

const ODD_BODIES = 120

for (const part of Array.from({ length: PARTS }, (_, at) => at))
  test(`unique indexes are those of SQLite, part ${part}`, async () => {
    const bodies = UNIQUE_BODIES.filter((_, at) => at % PARTS === part)
    expect(bodies).toHaveLength(108)
    await compare(bodies, uniqueRecord, seededRandom(seedsOf('model')[0]! + part))
  })

test('unique indexes of forms that few people write are those of SQLite', async () => {
  const random = seededRandom(seedsOf('model')[0]!)
  const bodies = Array.from({ length: ODD_BODIES }, () => oddBody(random))
  await compare(bodies, oddRecord, random)
})

async function compare(
  bodies: readonly string[],
  recordOf: (random: Random) => UniqueRecord,
  random: Random,
): Promise<void> {
  await using database = await open('unique', { storage: memory() })
  const wrong: unknown[] = []
  for (const [at, body] of bodies.entries()) {
    const statement = `CREATE UNIQUE INDEX i ON t ${body}`
    const index = libraryIndexOf(parseIndex(statement)!, DEFINITION)!
    const records = database.collection(`c${at}`, { indexes: [index.input] })
    const theirs = sqliteWith(statement)
    for (let from = 0; from < RECORDS; from += BATCH) {
      const batch = Array.from({ length: BATCH }, () => recordOf(random))
      const outcomes = await records.put(
        batch.map((record) => ({ ...record })),
        { atomic: false },
      )
      for (const [place, record] of batch.entries())
        if ('error' in outcomes[place]! === theirs(record)) wrong.push({ body, record })
    }
  }
  expect(wrong.slice(0, 5)).toEqual([])
  expect((await database.check()).ok).toBe(true)
}

/** Whether SQLite takes the next record. */
function sqliteWith(statement: string): (record: UniqueRecord) => boolean {
  const database = new DatabaseSync(':memory:', { enableDoubleQuotedStringLiterals: true })
  database.exec(TABLE)
  database.exec(statement)
  const insert = database.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)')
  return ({ slug, title, n, flag, day, tags, data }) => {
    try {
      insert.run(slug, title, n, flag ? 1 : 0, day, JSON.stringify(tags), data === null ? null : JSON.stringify(data))
      return true
    } catch {
      return false
    }
  }
}
