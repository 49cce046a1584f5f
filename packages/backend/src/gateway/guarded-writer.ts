/**
 * How documents get into a collection: guards prepare them, the quota admits them, and a transaction writes them after
 * guards have judged them. Slow work of guards runs before the transaction, so that it delays nobody. If a replicated
 * document was changed in between, it is prepared again.
 */
import { PannierError } from 'pannier'
import { guarded, isObject } from 'pannier/internal'
import type { Collection, Transaction, TransactionCollection, WriteOutcome, WriteResult } from 'pannier'
import type { Environment } from 'pannier/types'
import type { DocumentGuard, OptionNames } from 'pannier/internal'
import type { Databases } from './databases.ts'
import type { JsonObject } from './documents.ts'
import { asRefusal, judgedBy, reasonIn, type GuardChain } from './guard-chain.ts'
import type { GuardedWrite, Judge, Refusal, Write } from './guards.ts'
import type { Principal } from './principal.ts'
import type { Room } from './quota.ts'
import { ServiceError } from './service-error.ts'
import { Stored } from './stored-documents.ts'
import { WriteGroups } from './write-groups.ts'

export interface PutOptions {
  /** Whether edits are new. False: the revisions were made elsewhere, and are taken as they are. */
  readonly newEdits?: boolean
  /** True for a small write, which may share one commit with writes of others. */
  readonly grouped?: boolean
}

export const PUT_OPTIONS: OptionNames<PutOptions> = { newEdits: true, grouped: true }

/** The outcome of one document. */
export type GuardedOutcome = WriteResult | { readonly id: string; readonly error: Refusal }

/** Runs code of the operator around a write. `put` writes documents; gives an outcome for each that was to be written. */
export type AroundWrites = (
  write: GuardedWrite,
  put: (documents: readonly JsonObject[]) => Promise<GuardedOutcome[]>,
) => Promise<GuardedOutcome[]>

/** Puts documents that guards have let pass: by themselves, or in a transaction. */
type PutDocuments = (
  documents: readonly JsonObject[],
  place?: Pick<Transaction, 'collection'>,
) => Promise<readonly WriteOutcome[]>

/** Stores documents by `put`, with all that follows from them. The outcomes are aligned with them. */
export type StoreWrites = (
  write: Write,
  documents: readonly JsonObject[],
  put: PutDocuments,
) => Promise<readonly WriteOutcome[]>

export interface GuardedWriterParts {
  /** In the order in which they are asked, inside `around`. */
  readonly guards: GuardChain
  /** Judge what a delete takes along. */
  readonly following?: GuardChain
  readonly around?: AroundWrites
  readonly store?: StoreWrites
}

/** The principal as of now, and the name by which users know the collection. */
interface Writer {
  readonly principal: Principal
  readonly database: string
}

/** How often documents are judged that others keep changing, before nothing is written of them. */
const ROUNDS_MAX = 8

export class GuardedWriter {
  readonly #databases: Databases
  readonly #guards: GuardChain
  readonly #following: GuardChain | undefined
  readonly #around: AroundWrites | undefined
  readonly #storeWrites: StoreWrites
  readonly #groups: WriteGroups

  constructor(
    environment: Pick<Environment, 'yield'>,
    databases: Databases,
    { guards, following, around, store = (_write, documents, put) => put(documents) }: GuardedWriterParts,
  ) {
    this.#groups = new WriteGroups(environment)
    this.#databases = databases
    this.#guards = guards
    this.#following = following
    this.#around = around
    this.#storeWrites = store
  }

  security({ database }: Writer): Promise<JsonObject | undefined> {
    return this.#databases.security(database)
  }

  /** Whether it is a collection of the application. */
  isOfApp({ database }: Writer): boolean {
    return this.#databases.isOfApp(database)
  }

  /**
   * Runs `write`, of `_local` documents; the collection is not dropped meanwhile. No rule judges them, so guests write none to a
   * collection of the application.
   *
   * @throws ServiceError NOT_FOUND, UNAUTHENTICATED
   */
  async whileWriting<T>({ principal, database }: Writer, write: (room: Room) => Promise<T>): Promise<T> {
    if (principal.name === null && !principal.isAdmin && this.#databases.isOfApp(database))
      throw new ServiceError('UNAUTHENTICATED', `Log in to write _local documents of ${database}.`)
    return this.#databases.write(database, (_collection, room) => write(room))
  }

  /** Aligned with the documents. @throws ServiceError for what concerns all of them */
  put(
    { principal, database }: Writer,
    collection: Collection<JsonObject>,
    documents: readonly JsonObject[],
    { newEdits = true, grouped = false }: PutOptions,
  ): Promise<GuardedOutcome[]> {
    const write: Write = { principal, database, newEdits }
    const put = (wanted: readonly JsonObject[]): Promise<GuardedOutcome[]> =>
      this.#put(write, collection, wanted, grouped)
    if (this.#around === undefined) return put(documents)
    return this.#around({ ...write, documents, stored: new Stored(collection) }, put)
  }

  #put(
    write: Write,
    collection: Collection<JsonObject>,
    documents: readonly JsonObject[],
    grouped: boolean,
  ): Promise<GuardedOutcome[]> {
    const { database } = write
    return this.#databases.write(database, async (_collection, room) => {
      const outcomes: GuardedOutcome[] = []
      let places: readonly number[] = Array.from(documents.keys())
      for (let fruitless = 0; places.length > 0;) {
        const left = await this.#round(write, collection, documents, places, room, grouped, outcomes)
        fruitless = left.length < places.length ? 0 : fruitless + 1
        if (fruitless === ROUNDS_MAX)
          throw new ServiceError('UNAVAILABLE', 'The documents keep changing. Try again later.')
        places = left
      }
      const written = documents.filter((_document, at) => !('error' in outcomes[at]!))
      if (written.length > 0) this.#guards.written(write, written)
      return outcomes
    })
  }

  /** Puts an outcome at each of the places, but those that are returned: they come in the next round. */
  async #round(
    write: Write,
    collection: Collection<JsonObject>,
    documents: readonly JsonObject[],
    places: readonly number[],
    room: Room,
    grouped: boolean,
    outcomes: GuardedOutcome[],
  ): Promise<number[]> {
    const stored = new Stored(collection)
    const prepare = (some: readonly number[]): Promise<readonly (JsonObject | Refusal)[]> =>
      this.#guards.prepare({ ...write, documents: at(documents, some), stored })
    const judges = this.#guards.decide(write)
    const isJudged = (): boolean => judges.length > 0 || (!write.newEdits && stored.since !== undefined)
    const { first, rest } = onceEach(places, documents)
    let taken = first
    let verdicts = await prepare(first)
    let left = [...rest]
    if (rest.length > 0 && !isJudged()) {
      const more = await prepare(rest)
      if (!isJudged()) {
        taken = [...first, ...rest]
        verdicts = [...verdicts, ...more]
        left = []
      }
    }
    const passed: number[] = []
    for (const [index, place] of taken.entries()) {
      const verdict = verdicts[index]!
      if (verdict instanceof Error) outcomes[place] = { id: idOf(documents[place]!), error: verdict }
      else passed.push(index)
    }
    if (passed.length === 0) return left
    const admitted = await room.admit(at(verdicts, passed) as readonly JsonObject[])
    const since = write.newEdits ? undefined : stored.since
    const put: PutDocuments = (some, place) => {
      const guard = isJudged() ? guardOf(some, judges, since) : undefined
      const records = place?.collection<JsonObject>(collection.name) ?? collection
      return this.#store(records, some, write, guard, grouped && place === undefined)
    }
    const written = await this.#storeWrites(write, admitted, put)
    for (const [position, index] of passed.entries()) {
      const place = taken[index]!
      const outcome = written[position]!
      if (!('error' in outcome)) outcomes[place] = outcome
      else if (outcome.error !== CHANGED) outcomes[place] = { id: outcome.id, error: reasonIn(outcome.error) }
      else if (hasStreams(documents[place]!)) throw new ServiceError('UNAVAILABLE', 'The document was changed.')
      else left.push(place)
    }
    return left.sort((one, other) => one - other)
  }

  async #store(
    collection: TransactionCollection<JsonObject>,
    documents: readonly JsonObject[],
    write: Write,
    guard: DocumentGuard | undefined,
    grouped: boolean,
  ): Promise<readonly WriteOutcome[]> {
    const { newEdits } = write
    const isAlone = grouped && newEdits && documents.length === 1
    // What a delete takes along is judged with it alone.
    if (isAlone && !(documents[0]!['_deleted'] === true && this.isOfApp(write)))
      return [await this.#groups.put(collection, documents[0]!, guard)]
    if (guard === undefined) return collection.put(documents, { atomic: false, newEdits })
    const following = this.#following?.following(write, (name) => this.#databases.nameOf(name))
    return guarded(collection, guard, following).put(documents, { atomic: false, newEdits })
  }
}

/** `since`: what has a later change was judged by what is not there any more. */
function guardOf(documents: readonly JsonObject[], judges: readonly Judge[], since: number | undefined): DocumentGuard {
  return ({ position, sequence, old, reader }) => {
    if (since !== undefined && sequence > since) return CHANGED
    if (judges.length === 0) return undefined
    const refusal = judgedBy(judges, { old: old(), document: documents[position]!, reader })
    return refusal && asRefusal(refusal)
  }
}

/** The document has changed: a write was judged by what is not there any more. */
const CHANGED: PannierError = new PannierError('PANNIER_CONFLICT', 'The document was changed meanwhile.')

function at<T>(list: readonly T[], places: readonly number[]): readonly T[] {
  return places.length === list.length ? list : places.map((place) => list[place]!)
}

/** Splits off all but the first document of each id: the judge of the next one must see the outcome of the first. */
function onceEach(
  places: readonly number[],
  documents: readonly JsonObject[],
): { readonly first: readonly number[]; readonly rest: readonly number[] } {
  if (places.length === 1) return { first: places, rest: [] }
  const ids = new Set<unknown>()
  const first: number[] = []
  const rest: number[] = []
  for (const place of places) {
    const { _id: id } = documents[place]!
    if (id !== undefined && ids.has(id)) rest.push(place)
    else first.push(place)
    ids.add(id)
  }
  return { first, rest }
}

/** Whether a document has content that can be read once. */
export function hasStreams({ _attachments: attachments }: JsonObject): boolean {
  if (!isObject(attachments)) return false
  return Object.values(attachments).some((one) => {
    const data = isObject(one) ? one['data'] : undefined
    return typeof data === 'object' && data !== null && !(data instanceof Uint8Array)
  })
}

function idOf({ _id: id }: JsonObject): string {
  return typeof id === 'string' ? id : ''
}
