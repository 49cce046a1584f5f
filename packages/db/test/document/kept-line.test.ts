/**
 * Goal: with `history` an edit costs the same however many revisions the document has, and stores what the general plan stores.
 * Method: random edits of two collections. One takes the general plan for each. All that can be read of them is compared.
 */
import { expect, test, vi } from 'vitest'
import { open, type Database, type JsonObject } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { GeneralPlanner } from '../../src/document/plan-general.ts'
import { StoredRevisions } from '../../src/document/stored-revisions.ts'
import { seededRandom, type Random } from '../../testing/random.ts'

const ID = 'a'

/** Does `run` as it was before lines had a way of their own. */
async function generally<T>(run: () => Promise<T>): Promise<T> {
  const add = vi.spyOn(GeneralPlanner.prototype, 'add').mockImplementation(function (this: GeneralPlanner, write) {
    this.addGroup([write])
  })
  try {
    return await run()
  } finally {
    add.mockRestore()
  }
}

type Step = (db: Database) => Promise<unknown>

function steps(random: Random, n: number): Step {
  const attachment = random.chance(0.3)
    ? { 'a.txt': { data: new Uint8Array([n]), contentType: 'text/plain' } }
    : undefined
  const content: JsonObject = { n, ...(attachment && { _attachments: attachment }) } as never
  const kind = random.below(8)
  const [first, second] = [random.below(1000), random.below(1000)]
  return async (db) => {
    const docs = db.collection<JsonObject>('docs')
    const now = (await docs.getRevisions(ID, 'all', { revs: true }).catch(() => [])) as readonly { ok?: JsonObject }[]
    const leaf = now[0]?.ok
    const rev = leaf?.['_rev'] as string | undefined
    if (kind === 0) return docs.delete(ID).catch(() => {})
    if (kind === 1 && rev !== undefined) {
      // A revision of elsewhere, behind the leaf or beside it.
      const { start, ids } = leaf!['_revisions'] as { start: number; ids: string[] }
      const suffix = (seed: number): string => seed.toString(16).padStart(32, '0')
      const history = { start: start + 1, ids: [suffix(first), ...ids] }
      const document = { _id: ID, _rev: `${start + 1}-${suffix(first)}`, _revisions: history, n, by: second }
      return docs.put([document] as never, { newEdits: false } as never).catch((error: unknown) => String(error))
    }
    if (kind === 2)
      return docs.put({ _id: ID, ...content, _rev: '1-0' } as never).catch((error: { code: string }) => error.code)
    if (kind === 3) return docs.insert({ _id: ID, ...content } as never).catch((error: { code: string }) => error.code)
    return docs.upsert({ _id: ID, ...content } as never)
  }
}

async function state(db: Database): Promise<unknown> {
  const docs = db.collection<JsonObject>('docs')
  const revisions = await docs.getRevisions(ID, 'all', { revs: true, revsInfo: true }).catch(String)
  const kept: unknown[] = []
  for (const { ok } of revisions as readonly { ok?: JsonObject }[])
    for (const { rev } of (ok?.['_revs_info'] ?? []) as readonly { rev: string }[])
      kept.push(await docs.get(ID, { rev } as never).catch((error: { code: string }) => error.code))
  return [revisions, kept]
}

test.each([3, 4, 7, 1000])(
  'lines and the general plan store the same, with at most %i revisions',
  async (revisionsLimit) => {
    for (let seed = 1; seed <= 12; seed++) {
      const dbs = [await open('line', { storage: memory() }), await open('general', { storage: memory() })] as const
      for (const db of dbs) await db.createCollection('docs', { history: true, revisionsLimit })
      const random = seededRandom(seed)
      for (let n = 0; n < 25; n++) {
        const step = steps(random, n)
        const [line, general] = [await step(dbs[0]), await generally(() => step(dbs[1]))]
        expect([seed, n, line]).toEqual([seed, n, general])
        expect([seed, n, await state(dbs[0])]).toEqual([seed, n, await state(dbs[1])])
      }
      for (const db of dbs) {
        expect((await db.check()).problems).toEqual([])
        await db.close()
      }
    }
  },
)

test.each([1000, 50])(
  'an edit reads as many revisions, however many there are, with at most %i',
  async (revisionsLimit) => {
    const db = await open('line', { storage: memory() })
    const docs = db.collection<JsonObject>('docs', { history: true, revisionsLimit })
    let visited = 0
    const each = StoredRevisions.prototype.each
    const spied = vi.spyOn(StoredRevisions.prototype, 'each').mockImplementation(function (
      this: StoredRevisions,
      number,
      visit,
    ) {
      each.call(this, number, (entry) => {
        visited++
        return visit(entry)
      })
    })
    for (let n = 0; n < 200; n++) {
      visited = 0
      await docs.upsert({ _id: ID, n })
      expect([n, visited <= 3]).toEqual([n, true])
    }
    spied.mockRestore()
    expect((await db.check()).problems).toEqual([])
    await db.close()
  },
)
