/** `expand` of a request: related records in the records that are shown, as far as their view rules admit them. */
import { holdsRecords, ownValue } from '../../fields/field-types.ts'
import type { Access } from '../../access/access.ts'
import type { Actor } from '../../access/actor.ts'
import type { KnownDefinitions } from '../../access/rule-records.ts'
import type { Definition } from '../../definitions/definition.ts'
import type { AnswerBudget } from '../../gateway/answer-room.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { jsonSize } from '../../gateway/json-text.ts'
import { invalid } from '../../gateway/service-error.ts'
import { admittedOf } from './admitted.ts'
import type { RecordSnapshot } from './record-snapshot.ts'
import type { ShownRecord } from './shown-record.ts'

const LEVELS_MAX = 6
/** Related records of one record, by a back-relation. */
const BACK_MAX = 1000
/** Records in one answer. */
const SHOWN_MAX = 100_000
/** The rows that a related record costs a request: it is read, its rule is asked, and it is shown. */
const ROWS_EACH = 10

/** A step of a path. */
interface Step {
  readonly to: Definition
  readonly isMany: boolean
  /** The field of `to` that leads back. */
  readonly back: string | undefined
}

interface Expanding {
  readonly actor: Actor
  readonly access: Access
  readonly definitions: KnownDefinitions
  readonly snapshot: RecordSnapshot
  /** The memory for expanded records. */
  readonly budget: AnswerBudget
  /** Makes records to show, of one collection. */
  show(definition: Definition, documents: readonly JsonObject[], context: string): Promise<ShownRecord[]>
}

/** Expands each path that can be followed. The others are ignored, with all of their steps. */
export async function expandRecords(
  records: readonly ShownRecord[],
  expand: string,
  expanding: Expanding,
): Promise<void> {
  for (const path of pathsOf(expand)) await follow(records, path, 1, expanding)
  const shown = shownIn(records)
  if (shown.count > SHOWN_MAX)
    throw invalid(`More than ${SHOWN_MAX} records are expanded. Ask for fewer, or for shorter paths.`)
  expanding.budget.take(shown.repeatedBytes)
}

/** The cost of a shown record, with its related records. */
interface ShownCost {
  readonly count: number
  readonly bytes: number
}

/** A record that several others lead to is shown in each of them. The bytes of the first time were counted when it was read. */
function shownIn(records: readonly ShownRecord[]): { readonly count: number; readonly repeatedBytes: number } {
  const known = new Map<ShownRecord, ShownCost>()
  let bytesOnce = 0
  const sum = (all: readonly ShownRecord[], own: ShownCost): ShownCost =>
    all.map(shownBy).reduce((one, other) => ({ count: one.count + other.count, bytes: one.bytes + other.bytes }), own)
  const shownBy = (record: ShownRecord): ShownCost => {
    const found = known.get(record)
    if (found !== undefined) return found
    const bytes = jsonSize(record.document)
    bytesOnce += bytes
    const shown = sum([...(record.expand?.values() ?? [])].flat(), { count: 1, bytes })
    known.set(record, shown)
    return shown
  }
  const { count, bytes } = sum(records, { count: 0, bytes: 0 })
  return { count, repeatedBytes: bytes - bytesOnce }
}

/** A path that another one continues is left out. */
function pathsOf(expand: string): Set<string> {
  const paths = expand.split(',').map((path) => path.replaceAll(' ', '').replaceAll(/^\.+|\.+$/g, ''))
  return new Set(paths.filter((path) => path !== '' && !paths.some((other) => other.startsWith(`${path}.`))))
}

/** False if the path leads nowhere, or to records that are locked: then nothing of it is expanded. */
async function follow(
  records: readonly ShownRecord[],
  path: string,
  level: number,
  expanding: Expanding,
): Promise<boolean> {
  const [first] = records
  if (first === undefined || level > LEVELS_MAX) return true
  const end = path.indexOf('.')
  const key = end < 0 ? path : path.slice(0, end)
  const step = stepOf(first.definition, key, expanding)
  if (step === undefined) return false
  const ids = await idsOf(records, key, step, expanding)
  expanding.snapshot.budget.spend(ids.flat().length * ROWS_EACH)
  const related = await viewable(step.to, [...new Set(ids.flat())], expanding)
  if (related === undefined) return false
  if (end >= 0 && !(await follow(related, path.slice(end + 1), level + 1, expanding))) return false
  const byId = new Map(related.map((record) => [record.document['_id'], record]))
  const merged: Merged = new Map()
  for (const [index, record] of records.entries()) {
    record.expand ??= new Map()
    const found = ids[index]!.map((id) => byId.get(id)).filter((each) => each !== undefined)
    if (found.length === 0) continue
    for (const known of [record.expand.get(key) ?? []].flat()) {
      const again = byId.get(known.document['_id'])
      if (again !== undefined) merge(again, known, merged)
    }
    record.expand.set(key, step.isMany ? found : found[0]!)
  }
  return true
}

/** The records that were merged into each: those that many lead to are merged once. */
type Merged = Map<ShownRecord, Set<ShownRecord>>

/** Merges expanded records. Records of an earlier path stay. */
function merge(into: ShownRecord, from: ShownRecord, merged: Merged): void {
  const others = merged.get(into) ?? new Set()
  if (from.expand === undefined || others.has(from)) return
  merged.set(into, others.add(from))
  into.expand ??= new Map()
  for (const [key, known] of from.expand) {
    const found = into.expand.get(key)
    if (found === undefined) {
      into.expand.set(key, known)
      continue
    }
    const byId = new Map([found].flat().map((record) => [record.document['_id'], record]))
    for (const record of [known].flat()) {
      const again = byId.get(record.document['_id'])
      if (again !== undefined) merge(again, record, merged)
    }
  }
}

/** A relation, `comments_via_post`, or its older form `comments(post)`. */
function stepOf(from: Definition, key: string, { actor, access, definitions }: Expanding): Step | undefined {
  const [, backFrom = '', backField = ''] =
    (key.includes('(') ? /^(\w+)\((\w+)\)$/ : /^(\w+)_via_(\w+)$/).exec(key) ?? []
  const owner = backFrom === '' ? from : definitions.find(backFrom)
  const field = owner?.fields.find(({ name }) => name === (backFrom === '' ? key : backField))
  // Other records tell where a relation leads that is not shown.
  if (backFrom !== '' && field !== undefined && !access.seesAlways(actor, owner!, field)) return undefined
  if (owner === undefined || field === undefined || !holdsRecords(field)) return undefined
  if (field.hidden && !actor.principal.isAdmin) return undefined
  if (backFrom !== '') {
    if (field.collectionId !== from.id) return undefined
    const isUnique = definitions.schema.find(owner.id)?.fields.get(field.name)?.isUnique === true
    return { to: owner, isMany: !isUnique, back: field.name }
  }
  const to = definitions.find(field.collectionId)
  return to && { to, isMany: field.maxSelect > 1, back: undefined }
}

/** The ids that the step leads to, for each record. */
async function idsOf(
  records: readonly ShownRecord[],
  key: string,
  { to, back }: Step,
  { snapshot }: Expanding,
): Promise<string[][]> {
  if (back === undefined) {
    const texts = records.map(({ document, without }) => (without.has(key) ? [] : [ownValue(document, key)].flat()))
    return texts.map((ids) => [...new Set(ids.filter((id) => typeof id === 'string' && id !== ''))] as string[])
  }
  const ids = records.map(({ document }) => document['_id'] as string)
  const found = await snapshot.via(to, back, ids, BACK_MAX)
  return ids.map((id) => (found.get(id) ?? []).map((document) => document['_id'] as string))
}

/** The documents that the actor may view; undefined if the collection is locked, or its rule names something that is gone. */
async function viewable(
  definition: Definition,
  ids: readonly string[],
  { actor, access, snapshot, show, budget }: Expanding,
): Promise<ShownRecord[] | undefined> {
  if (access.isLocked(actor, definition, 'view')) return undefined
  const found = await snapshot.getWithin(definition, ids, budget)
  const seen = await admittedOf(snapshot, access, {
    actor,
    definition,
    action: 'view',
    documents: found,
    context: 'expand',
  })
  return seen && show(definition, seen, 'expand')
}
