/**
 * The integrity check of documents, revisions, indexes and views: reads everything and compares. Pages and trees have a
 * check of their own.
 */
import type { Key } from '../../base/brand.ts'
import { isPannierError, type PannierError } from '../../base/errors.ts'
import { RunningWork, type LongWork } from '../../base/long-work.ts'
import { checkOptions, type OptionNames } from '../../base/options.ts'
import { decodeIdKey, keyNumber, numberKey } from '../../codec/key-encoding.ts'
import { BlobCheck } from '../../document/attachments/check-blobs.ts'
import { BodyView, readNumber } from '../../document/body.ts'
import { type Catalog, indexTreeName, type CollectionState } from '../../document/catalog.ts'
import { existingTree } from '../../document/document-reader.ts'
import { decodeLocal, localTreeName } from '../../document/local-documents.ts'
import type { DatabaseContext } from '../database-context.ts'
import { checkRevisions, type CheckedWinner } from './check-revisions.ts'
import { FieldReader, IndexTests } from '../../index/index-key.ts'
import { type IndexDefinition } from '../../index/index-definition.ts'
import type { HeldSnapshot, KeyValueStore, TreeReader } from '../../kv/key-value-store.ts'
import { selectorTest } from '../../query/selector-test.ts'
import { decodeList, listKey, textContent, textKeys } from '../../index/text/text-entries.ts'
import { entryKeysOfList } from '../../view/mapped-rows.ts'
import { keysTree, listViews, purgesAfter, rowsTree, treesOf, type ViewState } from '../../view/view-catalog.ts'

/**
 * The kind of a problem. The log or a page cannot be read; or trees, documents, revisions, attachments, local documents, indexes or views
 * of a collection do not match each other.
 */
export type ProblemCode =
  | 'LOG_DAMAGED'
  | 'PAGE_DAMAGED'
  | 'TREE_WRONG'
  | 'DOCUMENT_WRONG'
  | 'REVISION_WRONG'
  | 'ATTACHMENT_WRONG'
  | 'LOCAL_DOCUMENT_WRONG'
  | 'INDEX_WRONG'
  | 'VIEW_WRONG'

/** One thing that is wrong with a stored database. */
export interface Problem {
  /** The code is stable: programs may compare it. */
  readonly code: ProblemCode
  /** The name of the collection; undefined if the problem is not one collection's. */
  readonly where: string | undefined
  /** The message for people. Its wording may change. */
  readonly message: string
}

/** The result of `db.check()`. */
export interface CheckReport {
  /** True if there are no problems. */
  readonly ok: boolean
  /** The problems; empty if all is well. */
  readonly problems: readonly Problem[]
}

const LONG_WORK: OptionNames<LongWork> = { signal: true, onProgress: true }
/** Entries between two looks at the clock. */
const STEPS_PER_LOOK = 256

/** The parts of an open database that know its log and pages. */
interface CheckedParts {
  readonly damage?: () => PannierError | undefined
  readonly checkPages?: (work: RunningWork) => Promise<void>
}

/** The log, then the pages, then what they say. */
export async function checkWhole(
  { store, catalog, environment }: Pick<DatabaseContext, 'store' | 'catalog' | 'environment'>,
  { damage, checkPages }: CheckedParts,
  options: LongWork,
): Promise<CheckReport> {
  checkOptions('check()', options, LONG_WORK)
  const work = new RunningWork({ name: 'The check', environment, ...options })
  work.throwIfCancelled()
  const problems: Problem[] = []
  const report = (code: ProblemCode, { message }: PannierError): void =>
    void problems.push({ code, where: undefined, message })
  const damaged = damage?.()
  if (damaged !== undefined) report('LOG_DAMAGED', damaged)
  try {
    await checkPages?.(work)
    problems.push(...(await checkDatabase(store, catalog, work)))
  } catch (error) {
    if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
    report('PAGE_DAMAGED', error)
  }
  work.complete()
  return { ok: problems.length === 0, problems }
}

/** The problems; empty if all is well. It is the second half of the check, after that of the pages. */
async function checkDatabase(store: KeyValueStore, catalog: Catalog, work: RunningWork): Promise<Problem[]> {
  const snapshot = store.snapshot()
  try {
    const problems: Problem[] = []
    const states = catalog.names(snapshot).flatMap((name) => catalog.collection(snapshot, name) ?? [])
    const total = states.reduce((sum, { trees }) => sum + existingTree(snapshot, trees.bodies).count(), 0)
    let done = 0
    for (const state of states) {
      await checkCollection(snapshot, state, work, (code, messages) =>
        problems.push(...messages.map((message): Problem => ({ code, where: state.name, message }))),
      )
      done += existingTree(snapshot, state.trees.bodies).count()
      work.report(total + done, 2 * total)
    }
    return problems
  } finally {
    snapshot.release()
  }
}

/** Reads a whole tree, in steps. */
type ReadTree = (name: string, what: string) => Promise<Map<Key, Uint8Array>>

type Report = (code: ProblemCode, messages: readonly string[]) => void

async function checkCollection(
  snapshot: HeldSnapshot,
  state: CollectionState,
  work: RunningWork,
  report: Report,
): Promise<void> {
  const ofTrees: string[] = []
  const problems: string[] = []
  const { trees } = state
  const readTree: ReadTree = (name, what) => readAll(snapshot, existingTree(snapshot, name), ofTrees, what, work)
  const ids = await readTree(trees.ids, 'ids')
  const deleted = await readTree(trees.deleted, 'deleted')
  const moved = await readTree(trees.sequences, 'moved')
  const bodies = await readTree(trees.bodies, 'bodies')
  const body = new BodyView()
  const fields = new FieldReader(state.shapes)
  const tests = new IndexTests(selectorTest)
  await snapshot.attempt(() => tests.load(state.indexes))
  const indexChecks = state.indexes.map((index) => new IndexCheck(index, tests))
  const winners: CheckedWinner[] = []
  let liveCount = 0
  const blobs = new BlobCheck()
  for (const [key, value] of bodies) {
    if (winners.length % STEPS_PER_LOOK === 0) await work.pause()
    body.load(value, keyNumber(key))
    blobs.add(body.attachments)
    if (!body.deleted) liveCount++
    winners.push(winnerOf(body))
    const named = (body.deleted ? deleted : ids).get(body.key)
    if (named === undefined || readNumber(named) !== body.number)
      problems.push(`the id '${body.id}' does not lead to its document`)
    const sequence = moved.get(numberKey(body.number))
    if ((sequence === undefined ? body.number : readNumber(sequence)) !== body.sequence) {
      problems.push(`the document '${body.id}' is not where its number says`)
    }
    if (body.deleted) continue
    fields.load(body)
    for (const check of indexChecks) check.add(body, fields)
  }
  if (liveCount !== ids.size) problems.push(`${ids.size} ids for ${liveCount} documents`)
  if (bodies.size - liveCount !== deleted.size)
    problems.push(`${deleted.size} deleted ids for ${bodies.size - liveCount} tombstones`)
  for (const key of moved.keys())
    if (!bodies.has(numberKey(readNumber(moved.get(key)!)))) problems.push('a moved document is missing')
  const readOptional: ReadTree = async (name, what) =>
    snapshot.tree(name) === undefined ? new Map() : readTree(name, what)
  const revisions = await readOptional(trees.revisions, 'revisions')
  const extra = await readOptional(trees.otherBodies, 'extra')
  const conflicts = await readOptional(trees.conflicts, 'conflicts')
  report('REVISION_WRONG', checkRevisions(winners, { revisions, extra, conflicts }))
  for (const [key, value] of extra) {
    try {
      blobs.add(body.load(value, keyNumber(key)).attachments)
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
      report('REVISION_WRONG', [error.message])
    }
  }
  report('ATTACHMENT_WRONG', await blobs.run(snapshot, state.number, async () => void (await work.pause())))
  report('LOCAL_DOCUMENT_WRONG', checkLocalDocuments(await readOptional(localTreeName(state.number), 'local')))
  for (const [at, index] of state.indexes.entries()) {
    const entries = await readTree(indexTreeName(state.number, index.number), index.name)
    report('INDEX_WRONG', indexChecks[at]!.problems(entries))
  }
  report('VIEW_WRONG', await checkViews(snapshot, state, (name, what) => readTree(name, `a view's ${what}`), work))
  report('DOCUMENT_WRONG', problems)
  report('TREE_WRONG', ofTrees)
}

function winnerOf({ id, key, number, generation, suffix, deleted, otherLeaves }: BodyView): CheckedWinner {
  return { id, key, number, generation, suffix, deleted, otherLeaves }
}

function checkLocalDocuments(entries: ReadonlyMap<Key, Uint8Array>): string[] {
  const problems: string[] = []
  for (const [key, value] of entries) {
    try {
      decodeLocal(key, value)
    } catch {
      problems.push(`the local document '${decodeIdKey(key)}' cannot be read`)
    }
  }
  return problems
}

async function readAll(
  snapshot: HeldSnapshot,
  tree: TreeReader,
  problems: string[],
  what: string,
  work: RunningWork,
): Promise<Map<Key, Uint8Array>> {
  const entries = new Map<Key, Uint8Array>()
  const cursor = tree.cursor()
  let last = '' as Key
  for (let going = true; going;) {
    going = await snapshot.attempt(() => {
      for (let step = 0; step < STEPS_PER_LOOK; step++) {
        if (!cursor.next()) return false
        if (entries.size > 0 && cursor.key <= last) problems.push(`${what}: keys are out of order`)
        last = cursor.key
        entries.set(last, cursor.value)
      }
      return true
    })
    await work.pause()
  }
  if (tree.count() !== entries.size) problems.push(`${what}: counts ${tree.count()} entries but has ${entries.size}`)
  return entries
}

/** The integrity check of one index: which entries it should have, and whether it has them. */
class IndexCheck {
  readonly #index: IndexDefinition
  readonly #tests: IndexTests
  readonly #expected = new Set<string>()
  /** For a text index: the documents that have words. */
  readonly #listed = new Set<string>()

  constructor(index: IndexDefinition, tests: IndexTests) {
    this.#index = index
    this.#tests = tests
  }

  /** A live document, whose fields are loaded. */
  add(body: BodyView, { read }: FieldReader): void {
    const index = this.#index
    if (index.builtTo !== undefined && body.sequence > index.builtTo) return
    if (index.text === undefined) {
      for (const key of this.#tests.keys(index, read, body.number)) this.#expected.add(key)
    } else if (this.#tests.includes(index, read) && textContent(index, read) !== undefined) {
      this.#listed.add(listKey(body.number))
    }
  }

  /** When all documents were added. */
  problems(entries: ReadonlyMap<Key, Uint8Array>): string[] {
    const { name, text } = this.#index
    const expected = this.#expected
    if (text !== undefined) {
      // Which words there are is up to the engine that wrote the document: what it found is listed.
      for (const [key, value] of entries) {
        if (value.length === 0) continue
        expected.add(key)
        try {
          for (const one of textKeys(decodeList(value), keyNumber(key))) expected.add(one)
        } catch (error) {
          if (!isPannierError(error, 'PANNIER_CORRUPT')) throw error
          return [`the index '${name}' has a list that cannot be read`]
        }
      }
      const lists = [...entries.keys()].filter((key) => entries.get(key)!.length > 0)
      if (lists.length !== this.#listed.size || lists.some((key) => !this.#listed.has(key)))
        return [`the index '${name}' has the words of ${lists.length} documents, not of ${this.#listed.size}`]
    }
    const missing = [...expected].filter((key) => !entries.has(key as Key)).length
    const wrong = [...entries.keys()].filter((key) => !expected.has(key)).length
    return missing + wrong > 0 ? [`the index '${name}' lacks ${missing} entries and has ${wrong} that are wrong`] : []
  }
}

/**
 * The integrity check of views: the rows of each are exactly those that its key lists stand for, and every list is that of a
 * document. (What the map function would emit now, only its owner knows.)
 */
async function checkViews(
  snapshot: HeldSnapshot,
  state: CollectionState,
  read: ReadTree,
  work: RunningWork,
): Promise<string[]> {
  const problems: string[] = []
  const expectedTrees = new Set<string>()
  for (const view of listViews(snapshot, state.number)) {
    for (const name of treesOf(state.number, view)) expectedTrees.add(name)
    problems.push(...(await checkView(snapshot, state, view, read, work)))
  }
  for (const name of snapshot.treeNames(`${state.number}/v/`))
    if (!expectedTrees.has(name)) problems.push(`the tree ${name} belongs to no view`)
  return problems
}

async function checkView(
  snapshot: HeldSnapshot,
  state: CollectionState,
  view: ViewState,
  read: ReadTree,
  work: RunningWork,
): Promise<string[]> {
  const rows = new Set((await read(rowsTree(state.number, view.number), 'rows')).keys())
  const purged = new Map(
    purgesAfter(snapshot, state.number, view.purgesSeen).map(({ number, id }) => [number, id] as const),
  )
  let missing = 0
  let without = 0
  for (const [key, list] of await read(keysTree(state.number, view.number), 'lists')) {
    await work.pause()
    const number = keyNumber(key)
    const id = (await snapshot.attempt(() => idOf(snapshot, state, number))) ?? purged.get(number)
    if (id === undefined) without++
    else for (const row of entryKeysOfList(list, id)) if (!rows.delete(row)) missing++
  }
  if (missing + rows.size + without === 0) return []
  return [
    `the view '${view.storedName}' lacks ${missing} rows, has ${rows.size} that are wrong and ${without} lists of no document`,
  ]
}

function idOf(snapshot: HeldSnapshot, { trees }: CollectionState, number: number): string | undefined {
  const moved = existingTree(snapshot, trees.sequences).get(numberKey(number))
  const sequence = moved === undefined ? number : readNumber(moved)
  const body = existingTree(snapshot, trees.bodies).get(numberKey(sequence))
  return body && new BodyView().load(body, sequence).id
}
