/**
 * The page of the tests that drive a database in several tabs and workers: `databaseTab` in each of them. A worker runs the
 * same script, and `inWorker` calls its `databaseTab`.
 */
import { isPannierError, open, type Collection, type Database, type IndexInput } from '../../src/index.ts'
import { frozenWrites, type FrozenWrites } from './frozen-writes.ts'
import { randomWrites, type RandomWrites } from './random-writes.ts'

export interface Row {
  readonly _id: string
  readonly n: number
  readonly group: number
  readonly text: string
}

/** Of a collection: equal in two tabs exactly if they see the same. */
export interface Summary {
  readonly count: number
  readonly indexed: Readonly<Record<number, number>>
  readonly sum: number
  readonly digest: number
  /** What the integrity check has found. */
  readonly problems: readonly string[]
}

export interface DatabaseTab extends RandomWrites, FrozenWrites {
  open(name: string, indexes?: readonly IndexInput[]): Promise<void>
  close(): Promise<void>
  destroy(): Promise<void>
  refresh(): Promise<void>
  checkpoint(): Promise<void>
  dropCollection(): Promise<boolean>
  /** Inserts rows with the numbers `from` to `to - 1`, so many in a call, and so many calls at once. */
  insert(prefix: string, from: number, to: number, rowsPerCall?: number, calls?: number): Promise<void>
  /** Adds 1 to `n` of a row, so often, all at once. */
  increment(id: string, times: number): Promise<void>
  get(id: string): Promise<Row | undefined>
  summary(): Promise<Summary>
  buildIndex(index: IndexInput): Promise<void>
  /** Ids that commits of others have changed, as `onChange` tells since the database was opened. */
  heard(): readonly string[]
  /** Resolves when `onChange` has told of that id. */
  hear(id: string): Promise<void>
  /** Starts to walk all rows; the first few are read. */
  beginWalk(): Promise<void>
  /** Reads the rest; gives the numbers of all rows. */
  endWalk(): Promise<number[]>
  /** What came of a call: its error's code, or 'fulfilled'. */
  outcome(call: keyof DatabaseTab, ...parameters: unknown[]): Promise<string>
  startWorker(): Promise<void>
  inWorker(call: keyof DatabaseTab, ...parameters: unknown[]): Promise<unknown>
}

declare global {
  var databaseTab: DatabaseTab
}

export const COLLECTION = 'rows'
const TEXT = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod. '.repeat(3)

export function someRow(_id: string, n: number): Row {
  return { _id, n, group: n % 7, text: `${n} ${TEXT}` }
}

let database: Database | undefined
let rows: Collection<Row>
let heard: string[] = []
let waiting: { readonly id: string; readonly resolve: () => void }[] = []
let walk: AsyncIterator<Row> | undefined
const walked: number[] = []

function opened(): { readonly database: Database; readonly rows: Collection<Row> } {
  if (database === undefined) throw new Error('open a database first')
  return { database, rows }
}

const tab: DatabaseTab = {
  async open(name, indexes = ['group']) {
    database = await open(name, { collections: { [COLLECTION]: { indexes } } })
    rows = database.collection<Row>(COLLECTION)
    heard = []
    database.onChange(({ collections, local }) => {
      if (!local) hearOf(collections.get(COLLECTION)?.ids ?? [])
    })
  },
  close: () => opened().database.close(),
  destroy: () => opened().database.destroy(),
  refresh: () => opened().database.refresh(),
  checkpoint: () => opened().database.checkpoint(),
  dropCollection: () => opened().database.dropCollection(COLLECTION),
  async insert(prefix, from, to, rowsPerCall = 1, calls = 1) {
    let next = from
    const work = async (): Promise<void> => {
      while (next < to) {
        const first = next
        next = Math.min(to, next + rowsPerCall)
        const batch = Array.from({ length: next - first }, (_, at) => someRow(`${prefix}${first + at}`, first + at))
        await opened().rows.insert(batch)
      }
    }
    await Promise.all(Array.from({ length: calls }, work))
  },
  async increment(id, times) {
    await Promise.all(Array.from({ length: times }, () => opened().rows.update(id, (row) => ({ ...row, n: row.n + 1 }))))
  },
  get: (id) => opened().rows.get(id),
  async summary() {
    await opened().database.refresh()
    const indexed: Record<number, number> = {}
    for (let group = 0; group < 7; group++) indexed[group] = await opened().rows.find({ group }).count()
    let [count, sum, digest] = [0, 0, 0]
    for (const { _id, _rev, n } of await opened().rows.find().sort('_id').toArray()) {
      count++
      sum += n
      for (const char of `${_id} ${_rev} ${n};`) digest = (Math.imul(digest, 31) + char.charCodeAt(0)) | 0
    }
    if ((await opened().rows.find().count()) !== count) throw new Error('the count is not the number of rows')
    return { count, indexed, sum, digest, problems: await opened().database.check() }
  },
  async buildIndex(index) {
    await opened().database.collection(COLLECTION, { indexes: [index] }).ready()
  },
  heard: () => heard,
  hear(id) {
    if (heard.includes(id)) return Promise.resolve()
    return new Promise((resolve) => waiting.push({ id, resolve }))
  },
  async beginWalk() {
    walk = opened().rows.find()[Symbol.asyncIterator]()
    walked.length = 0
    for (let row = 0; row < 3; row++) await step()
  },
  async endWalk() {
    while (await step());
    return walked.toSorted((a, b) => a - b)
  },
  async outcome(call, ...parameters) {
    try {
      await (tab[call] as (...parameters: unknown[]) => unknown)(...parameters)
      return 'fulfilled'
    } catch (error) {
      if (isPannierError(error)) return error.code
      throw error
    }
  },
  ...randomWrites(opened),
  ...frozenWrites(opened),
  startWorker,
  inWorker: askWorker,
}
globalThis.databaseTab = tab

function hearOf(ids: readonly string[]): void {
  heard.push(...ids)
  const told = waiting.filter(({ id }) => ids.includes(id))
  waiting = waiting.filter(({ id }) => !ids.includes(id))
  for (const { resolve } of told) resolve()
}

async function step(): Promise<boolean> {
  const { done, value } = await walk!.next()
  if (done !== true) walked.push(value.n)
  return done !== true
}

/** A question to the worker, and its answer. */
interface Question {
  readonly id: number
  readonly call: keyof DatabaseTab
  readonly parameters: readonly unknown[]
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

let worker: Worker | undefined
let questions = 0
const unanswered = new Map<number, PromiseWithResolvers<unknown>>()

async function startWorker(): Promise<void> {
  worker = new Worker('/database.page.js', { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    const answer = unanswered.get(data.id)
    unanswered.delete(data.id)
    if (data.error === undefined) answer?.resolve(data.value)
    else answer?.reject(new Error(`in the worker: ${data.error}`))
  })
  await askWorker('heard')
}

function askWorker(call: keyof DatabaseTab, ...parameters: unknown[]): Promise<unknown> {
  const answer = Promise.withResolvers<unknown>()
  const question: Question = { id: ++questions, call, parameters }
  unanswered.set(question.id, answer)
  worker!.postMessage(question)
  return answer.promise
}

async function answerQuestion({ data }: MessageEvent<Question>): Promise<void> {
  const { id, call, parameters } = data
  let answer: Answer
  try {
    answer = { id, value: await (tab[call] as (...parameters: unknown[]) => unknown)(...parameters) }
  } catch (error) {
    answer = { id, error: String(error instanceof Error ? error.stack : error) }
  }
  postMessage(answer)
}

if (typeof document === 'undefined') {
  globalThis.addEventListener('message', (event) => void answerQuestion(event as MessageEvent<Question>))
}
