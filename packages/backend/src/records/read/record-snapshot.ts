/** The records that one request reads, all of one state of the database, views included. */
import type { BoundRule, RuleRecords } from '@pannier/rules'
import type { GuardReader, SnapshotReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { rowsBy, ruleRecords, type KnownDefinitions } from '../../access/rule-records.ts'
import { recordsName, type Definition, type ViewDefinition } from '../../definitions/definition.ts'
import type { PageWanted, ViewRows } from '../../definitions/views/view-reader.ts'
import type { AnswerBudget } from '../../gateway/answer-room.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { jsonSize } from '../../gateway/json-text.ts'
import { RequestBudget } from './request-budget.ts'

/** Documents that are asked about at once: others have a turn between two slices, and a page that is missing costs one slice. */
const SLICE = 100
/** Rows that their rules read and try, before the slice ends early. */
const SLICE_ROWS = 2000

/** Documents that are read at once for an answer: at first, at most, and their bytes about. */
const [LOT_MIN, LOT_MAX, LOT_BYTES] = [32, 1000, 2 * 1024 * 1024]

interface SnapshotParts {
  readonly definitions: KnownDefinitions
  readonly viewReader: ViewRows
  readonly environment: Environment
}

export class RecordSnapshot {
  readonly reader: SnapshotReader
  readonly environment: Environment
  /** The budget that is left for the request. */
  readonly budget: RequestBudget
  readonly #definitions: KnownDefinitions
  readonly #viewReader: ViewRows
  readonly #views = new Map<string, readonly JsonObject[]>()

  constructor(reader: SnapshotReader, { definitions, viewReader, environment }: SnapshotParts) {
    this.reader = reader
    this.environment = environment
    this.budget = new RequestBudget(environment)
    this.#definitions = definitions
    this.#viewReader = viewReader
  }

  /** Makes the views that a rule reads. */
  async prepare(bound: BoundRule): Promise<void> {
    for (const { id } of bound.collections) {
      const definition = this.#definitions.find(id)
      if (definition?.type === 'view') await this.rows(definition)
    }
  }

  /** Runs what asks rules. They have to be prepared; it may run again. */
  read<T>(reading: (records: RuleRecords) => T): Promise<T> {
    return this.reader.read((guard) => reading(this.rules(guard)))
  }

  /** The answer of `ask` about each document. It must be synchronous, and may be asked again. */
  async readEach<T>(
    documents: readonly JsonObject[],
    ask: (document: JsonObject, records: RuleRecords) => T,
  ): Promise<T[]> {
    const answers: T[] = []
    while (answers.length < documents.length) {
      if (answers.length > 0) await this.environment.yield()
      answers.push(...(await this.read((records) => this.#slice(documents, answers.length, records, ask))))
    }
    return answers
  }

  #slice<T>(
    documents: readonly JsonObject[],
    from: number,
    records: RuleRecords,
    ask: (document: JsonObject, records: RuleRecords) => T,
  ): T[] {
    const answers: T[] = []
    const { left } = this.budget
    for (const document of documents.slice(from, from + SLICE)) {
      this.budget.check()
      answers.push(ask(document, records))
      if (left - this.budget.left > SLICE_ROWS) break
    }
    return answers
  }

  /** The records for rules, through a reader of this snapshot. */
  rules(guard: GuardReader): RuleRecords {
    return ruleRecords(this.#definitions, guard, ({ id }) => this.#views.get(id) ?? [])
  }

  /** The documents of these ids. */
  async get(definition: Definition, ids: readonly string[]): Promise<(JsonObject | undefined)[]> {
    if (definition.type !== 'view') return this.reader.read((guard) => guard.getMany(recordsName(definition), ids))
    const rows = rowsBy(await this.rows(definition), '_id')
    return ids.map((id) => rows.get(id)?.[0])
  }

  /**
   * As `get`, without those that are not there, for an answer. Few are read at a time, so that no more is in memory than the budget has.
   */
  async getWithin(definition: Definition, ids: readonly string[], budget: AnswerBudget): Promise<JsonObject[]> {
    const found: JsonObject[] = []
    let bytes = 0
    for (let at = 0, count = LOT_MIN; at < ids.length;) {
      if (at > 0) await this.environment.yield()
      for (const document of await this.get(definition, ids.slice(at, at + count))) {
        if (document === undefined) continue
        const size = jsonSize(document)
        budget.take(size)
        bytes += size
        found.push(document)
      }
      at += count
      count = Math.max(1, Math.min(LOT_MAX, Math.floor((LOT_BYTES * at) / Math.max(1, bytes))))
    }
    return found
  }

  /** The records whose relation has one of the ids, by these. */
  async via(
    definition: Definition,
    field: string,
    ids: readonly string[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly JsonObject[]>> {
    if (definition.type !== 'view') return this.reader.via(recordsName(definition), field, ids, limit)
    const rows = rowsBy(await this.rows(definition), field)
    return new Map(ids.map((id) => [id, (rows.get(id) ?? []).slice(0, limit)]))
  }

  /** A page of a view whose rows are kept. Undefined: they are not, or this request has read all of them. */
  async page(definition: ViewDefinition, wanted: PageWanted): ReturnType<ViewRows['page']> {
    if (this.#views.has(definition.id)) return undefined
    return this.#viewReader.page(definition, wanted, this.reader.sequence)
  }

  /** The rows of a view, made once. @throws ServiceError INVALID if it no longer fits what it reads */
  async rows(definition: ViewDefinition): Promise<readonly JsonObject[]> {
    const rows = this.#views.get(definition.id) ?? (await this.#viewReader.rows(definition, this.reader.sequence))
    this.#views.set(definition.id, rows)
    return rows
  }
}
