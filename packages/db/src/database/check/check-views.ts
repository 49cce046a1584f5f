/**
 * The integrity check of views: the rows of each are exactly those that its key lists stand for, and every list is that of a
 * document. (What the map function would emit now, only its owner knows.)
 */
import type { Key } from '../../base/brand.ts'
import { keyNumber, numberKey } from '../../codec/key-encoding.ts'
import { BodyView, readNumber } from '../../document/body.ts'
import type { CollectionState } from '../../document/collection-state.ts'
import { existingTree } from '../../document/document-reader.ts'
import type { HeldSnapshot } from '../../kv/key-value-store.ts'
import { entryKeysOfList } from '../../view/mapped-rows.ts'
import { keysTree, listViews, purgesAfter, rowsTree, type ViewState } from '../../view/view-catalog.ts'

export async function checkViews(snapshot: HeldSnapshot, state: CollectionState): Promise<string[]> {
  const problems: string[] = []
  const expectedTrees = new Set<string>()
  for (const view of listViews(snapshot, state.number)) {
    expectedTrees.add(rowsTree(state.number, view.number)).add(keysTree(state.number, view.number))
    problems.push(...(await checkView(snapshot, state, view)))
  }
  for (const name of snapshot.treeNames(`${state.number}/v/`))
    if (!expectedTrees.has(name)) problems.push(`the tree ${name} belongs to no view`)
  return problems
}

async function checkView(snapshot: HeldSnapshot, state: CollectionState, view: ViewState): Promise<string[]> {
  const rows = new Set<Key>()
  const cursor = existingTree(snapshot, rowsTree(state.number, view.number)).cursor()
  await snapshot.attempt(() => {
    while (cursor.next()) rows.add(cursor.key)
  })
  const purged = new Map(
    purgesAfter(snapshot, state.number, view.purgesSeen).map(({ number, id }) => [number, id] as const),
  )
  const lists = existingTree(snapshot, keysTree(state.number, view.number)).cursor()
  let missing = 0
  let without = 0
  const found: [number: number, list: Uint8Array][] = []
  await snapshot.attempt(() => {
    while (lists.next()) found.push([keyNumber(lists.key), lists.value])
  })
  for (const [number, list] of found) {
    const id = (await snapshot.attempt(() => idOf(snapshot, state, number))) ?? purged.get(number)
    if (id === undefined) without++
    else for (const key of entryKeysOfList(list, id)) if (!rows.delete(key)) missing++
  }
  if (missing + rows.size + without === 0) return []
  return [
    `the view '${view.storedName}' lacks ${missing} rows, has ${rows.size} that are wrong and ${without} lists of no document`,
  ]
}

function idOf(snapshot: HeldSnapshot, { trees }: CollectionState, number: number): string | undefined {
  const moved = existingTree(snapshot, trees.moved).get(numberKey(number))
  const sequence = moved === undefined ? number : readNumber(moved)
  const body = existingTree(snapshot, trees.bodies).get(numberKey(sequence))
  return body && new BodyView().load(body, sequence).id
}
