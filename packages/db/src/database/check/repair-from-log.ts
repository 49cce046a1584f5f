/**
 * Saves documents of commits after the one that could not be replayed. Such a commit was made on an unknown state: its
 * numbers may be in use twice. Only what it wrote itself is certain: a body with its id and revision. The newest body
 * of each document counts.
 */
import { isPannierError } from '../../base/errors.ts'
import { definedName, CATALOG, type Catalog, type CollectionState } from '../../document/catalog.ts'
import { BodyView, readNumber } from '../../document/body.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import { RevisionReader } from '../../document/revision-reads.ts'
import type { HeldSnapshot } from '../../kv/key-value-store.ts'
import type { LaterCommit, Salvage } from '../../kv/salvage.ts'
import { keyNumber, numberKey } from '../../codec/key-encoding.ts'

/** A document, and where its attachments are read. */
export interface LaterDocument {
  readonly document: StoredDocument
  readonly body: BodyView
  readonly snapshot: HeldSnapshot
  readonly state: CollectionState
}

interface LaterDocuments {
  readonly state: CollectionState
  readonly documents: ReadonlyMap<string, LaterDocument>
}

/** By the name of the collection. */
export async function laterDocuments(salvage: Salvage, catalog: Catalog): Promise<ReadonlyMap<string, LaterDocuments>> {
  const found = new Map<string, { state: CollectionState; documents: Map<string, LaterDocument> }>()
  // A number that was given to two collections means the one that was defined last.
  const nameOf = new Map<number, string>()
  for (const name of catalog.names(salvage.snapshot))
    nameOf.set(catalog.collection(salvage.snapshot, name)!.number, name)
  for await (const commit of salvage.later()) {
    for (const { key } of commit.puts.get(CATALOG) ?? []) {
      const name = definedName(key)
      const state = name === undefined ? undefined : catalog.collection(commit.snapshot, name)
      if (state !== undefined) nameOf.set(state.number, state.name)
    }
    for (const [number, name] of nameOf) {
      const state = catalog.collection(commit.snapshot, name)
      if (state?.number !== number) continue
      const documents = found.get(name)?.documents ?? new Map<string, LaterDocument>()
      for (const one of await bodiesOf(salvage, commit, state, catalog)) documents.set(one.body.id, one)
      if (documents.size > 0) found.set(name, { state, documents })
    }
  }
  return found
}

async function bodiesOf(
  salvage: Salvage,
  { snapshot, puts }: LaterCommit,
  state: CollectionState,
  catalog: Catalog,
): Promise<LaterDocument[]> {
  const reader = new DocumentReader(snapshot, state)
  const found: LaterDocument[] = []
  for (const { key, value } of puts.get(state.trees.bodies) ?? []) {
    try {
      const body = new BodyView().load(value.slice(), keyNumber(key))
      const document = await snapshot.attempt(() => reader.decode(body))
      const history = await historyOf(salvage, snapshot, state, body, catalog)
      found.push({ document: { ...document, ...history }, body, snapshot, state })
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      salvage.lostCommits++
    }
  }
  return found
}

/** `_revisions`, unless the number of the document was another's, whose history it would get. */
async function historyOf(
  salvage: Salvage,
  snapshot: HeldSnapshot,
  state: CollectionState,
  body: BodyView,
  catalog: Catalog,
): Promise<object> {
  try {
    const before = catalog.collection(salvage.snapshot, state.name)
    if (before?.number === state.number) {
      const other = await salvage.snapshot.attempt(() => holderOf(salvage.snapshot, before, body.number))
      if (other !== undefined && other.id !== body.id) return {}
    }
    const leaves = await snapshot.attempt(() =>
      new RevisionReader(new DocumentReader(snapshot, state)).leavesThere(body),
    )
    const own = leaves.find(({ _rev }) => _rev === body.revision)
    return own === undefined ? {} : { _revisions: own['_revisions'] }
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
    return {}
  }
}

/** The document of that number, or undefined. */
function holderOf(snapshot: HeldSnapshot, { trees }: CollectionState, number: number): BodyView | undefined {
  const moved = snapshot.tree(trees.sequences)?.get(numberKey(number))
  const sequence = moved === undefined ? number : readNumber(moved)
  const value = snapshot.tree(trees.bodies)?.get(numberKey(sequence))
  return value && new BodyView().load(value, sequence)
}
