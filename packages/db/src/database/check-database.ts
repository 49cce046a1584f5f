/** The integrity check of documents, indexes and views: reads everything and compares. (Pages and trees have a check of their own.) */
import type { Key } from '../base/brand.ts'
import { keyNumber, numberKey } from '../codec/key-number.ts'
import { BodyView, readNumber } from '../document/body.ts'
import type { Catalog } from '../document/catalog.ts'
import type { CollectionState } from '../document/collection-state.ts'
import { existingTree } from '../document/document-reader.ts'
import { FieldReader } from '../index/field-reader.ts'
import { indexTreeName } from '../index/index-definition.ts'
import { indexKeys } from '../index/index-key.ts'
import type { HeldSnapshot, KeyValueStore, TreeReader } from '../kv/key-value-store.ts'
import { checkViews } from './check-views.ts'

/** What is wrong; empty if nothing is. */
export async function checkDatabase(store: KeyValueStore, catalog: Catalog): Promise<string[]> {
  const snapshot = store.snapshot()
  try {
    const problems: string[] = []
    for (const name of catalog.names(snapshot)) {
      const state = catalog.collection(snapshot, name)
      if (state !== undefined)
        problems.push(...(await checkCollection(snapshot, state)).map((what) => `${name}: ${what}`))
    }
    return problems
  } finally {
    snapshot.release()
  }
}

async function checkCollection(snapshot: HeldSnapshot, state: CollectionState): Promise<string[]> {
  const problems: string[] = []
  const { trees } = state
  const ids = await readAll(snapshot, existingTree(snapshot, trees.ids), problems, 'ids')
  const deleted = await readAll(snapshot, existingTree(snapshot, trees.deleted), problems, 'deleted')
  const moved = await readAll(snapshot, existingTree(snapshot, trees.moved), problems, 'moved')
  const bodies = await readAll(snapshot, existingTree(snapshot, trees.bodies), problems, 'bodies')
  const body = new BodyView()
  const fields = new FieldReader(state.shapes)
  const expected = state.indexes.map(() => new Set<string>())
  let liveCount = 0
  for (const [key, value] of bodies) {
    body.load(value, keyNumber(key))
    if (!body.deleted) liveCount++
    const named = (body.deleted ? deleted : ids).get(body.idKey)
    if (named === undefined || readNumber(named) !== body.number)
      problems.push(`the id '${body.id}' does not lead to its document`)
    const sequence = moved.get(numberKey(body.number))
    if ((sequence === undefined ? body.number : readNumber(sequence)) !== body.sequence) {
      problems.push(`the document '${body.id}' is not where its number says`)
    }
    if (body.deleted) continue
    fields.load(body)
    state.indexes.forEach((index, at) => {
      if (index.builtTo !== undefined && body.sequence > index.builtTo) return
      for (const entry of indexKeys(index, fields.read, body.number)) expected[at]!.add(entry)
    })
  }
  if (liveCount !== ids.size) problems.push(`${ids.size} ids for ${liveCount} documents`)
  if (bodies.size - liveCount !== deleted.size)
    problems.push(`${deleted.size} deleted ids for ${bodies.size - liveCount} tombstones`)
  for (const key of moved.keys())
    if (!bodies.has(numberKey(readNumber(moved.get(key)!)))) problems.push('a moved document is missing')
  for (const [at, index] of state.indexes.entries()) {
    const tree = existingTree(snapshot, indexTreeName(state.number, index.number))
    const entries = await readAll(snapshot, tree, problems, index.name)
    const missing = [...expected[at]!].filter((key) => !entries.has(key as Key)).length
    const wrong = [...entries.keys()].filter((key) => !expected[at]!.has(key)).length
    if (missing + wrong > 0)
      problems.push(`the index '${index.name}' lacks ${missing} entries and has ${wrong} that are wrong`)
  }
  problems.push(...(await checkViews(snapshot, state)))
  return problems
}

async function readAll(
  snapshot: HeldSnapshot,
  tree: TreeReader,
  problems: string[],
  what: string,
): Promise<Map<Key, Uint8Array>> {
  const entries = new Map<Key, Uint8Array>()
  const cursor = tree.cursor()
  let last = '' as Key
  await snapshot.attempt(() => {
    while (cursor.next()) {
      if (entries.size > 0 && cursor.key <= last) problems.push(`${what}: keys are out of order`)
      last = cursor.key
      entries.set(last, cursor.value)
    }
  })
  if (tree.count() !== entries.size) problems.push(`${what}: counts ${tree.count()} entries but has ${entries.size}`)
  return entries
}
