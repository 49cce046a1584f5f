/**
 * `npm run node -- bench/pocketbase/lists.ts [POSTS]`: how long lists take inside the process, with the text of their answers and without
 * HTTP. Medians of milliseconds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { environmentOf } from 'pannier/internal'
import { sqlite } from 'pannier/sqlite'
import { Access } from '../../packages/backend/src/access/access.ts'
import { DataKey } from '../../packages/backend/src/access/data-key.ts'
import { ShownRevisions } from '../../packages/backend/src/access/shown-revisions.ts'
import { recordsName } from '../../packages/backend/src/definitions/definition.ts'
import { Definitions } from '../../packages/backend/src/definitions/definitions.ts'
import { GUEST, SYSTEM, type Principal } from '../../packages/backend/src/gateway/principal.ts'
import { RecordReads } from '../../packages/backend/src/records/record-reads.ts'
import type { ListOptions } from '../../packages/backend/src/records/record-types.ts'
import { alignColumns } from '../bars/table.ts'
import { timeWarm } from '../measure.ts'
import { DEFINITIONS, idOf, postOf, POSTS, TABLES } from './blog.ts'

const BATCH = 2_000
const POSTS_USUAL = 100_000

interface List extends ListOptions {
  readonly name: string
  readonly rule?: string
}

const LISTS: readonly List[] = [
  { name: 'list of 30' },
  { name: 'list of 30, no total', skipTotal: true },
  { name: 'expand author', expand: 'author' },
  { name: 'page 900 of 100', page: 900, perPage: 100 },
  { name: 'fields=id', fields: 'id' },
  { name: 'sort -title', sort: '-title' },
  { name: 'sort author.name', sort: 'author.name' },
  { name: 'rule: logged in', rule: "@request.auth.id != ''" },
  { name: 'rule: author', rule: 'author = @request.auth.id' },
  { name: 'rule: public', rule: 'public = true' },
  { name: 'title ~', filter: "title ~ 'title 12'" },
  { name: 'type:each !=', filter: "type:each != 'c'" },
  { name: 'type:each =', filter: "type:each = 'a'" },
  { name: 'type:each ?= or ?=', filter: "type:each ?= 'a' || type:each ?= 'b'" },
  { name: 'author.name =', filter: "author.name = 'user 7'" },
  { name: 'author.organization.name =', filter: "author.organization.name = 'org 7'" },
  { name: 'author.organization.name ~', filter: "author.organization.name ~ 'org 7'" },
  { name: 'author.permissions.active', filter: 'author.permissions.active = true' },
  { name: 'author.permissions.active, no total', filter: 'author.permissions.active = true', skipTotal: true },
  { name: 'author.permissions.name ?=', filter: "author.permissions.name ?= 'perm 7'" },
  { name: 'title:lower =', filter: "title:lower = 'title 12'" },
]

const posts = Number(process.argv[2] ?? POSTS_USUAL)
const folder = mkdtempSync(join(tmpdir(), 'pannier-lists-'))
const database = await open(join(folder, 'lists.db'), { storage: sqlite() })
const definitions = await Definitions.open(database)
for (const definition of DEFINITIONS) await definitions.create(SYSTEM, definition)
for (const { name, count, recordOf } of [...TABLES, { name: POSTS, count: posts, recordOf: postRecord }]) {
  const collection = definitions.records(definitions.find(name)!)
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from)
    await collection.insert(Array.from({ length: size }, (_, at) => documentOf(recordOf(from + at))))
  }
}
const environment = environmentOf(database)
const reads = new RecordReads({
  database,
  environment,
  definitions,
  access: new Access(definitions, new ShownRevisions(await DataKey.open(database, environment)), environment),
  viewReader: { rows: async () => [], page: async () => undefined },
})
const people = definitions.find('people')!
const record = (await database.collection(recordsName(people)).get(idOf('user', 7)))!
const user: Principal = { ...GUEST, by: 'token', account: { collection: people.id, record } }
const request = { context: 'default', method: 'GET', query: {}, headers: {} }
const rows: string[][] = []
let ruled = ''
for (const { name, rule = '', ...options } of LISTS) {
  if (rule !== ruled) await definitions.update(SYSTEM, POSTS, { listRule: rule })
  ruled = rule
  const run = async (): Promise<string> =>
    JSON.stringify(await reads.list({ principal: user, request }, POSTS, options))
  const first = performance.now()
  const { totalItems } = JSON.parse(await run()) as { totalItems: number }
  const cold = performance.now() - first
  const { milliseconds } = await timeWarm(run)
  rows.push([name, milliseconds.toFixed(3), cold.toFixed(1), String(totalItems)])
}
console.log(alignColumns([[`${posts} posts`, 'ms', 'first', 'total'], ...rows], [0]))
await definitions.close()
await database.close()
rmSync(folder, { recursive: true })

function postRecord(at: number): object {
  const created = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString().replace('T', ' ')
  return { id: idOf('post', at), ...postOf(at), created, updated: created }
}

/** As it is stored. */
function documentOf({ id, ...fields }: { readonly id?: string }): { _id: string } & Record<string, unknown> {
  return { ...fields, _id: id! }
}
