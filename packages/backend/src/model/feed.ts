/** Brings what is written into the read model, from the change feed: a few documents a turn, all of one commit in one transaction. */
import type { Database } from 'pannier'
import { holdSnapshot, type GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { DescribedQuery } from '../definitions/views/view-queries.ts'
import type { ChangedColumns, FeedStep, ModelTable, NumberedRow, Overlay } from './protocol.ts'
import { columnFields, rowOf, tableOf } from './tables.ts'

/** Documents of one turn. A snapshot is held as long as a turn takes. */
const TURN_DOCUMENTS = 256
/** Turns that the keeper has not answered. */
const TURNS_AHEAD = 16

export interface FeedParts {
  readonly database: Database
  readonly environment: Environment
  readonly definitions: {
    find(id: string): Definition | undefined
    steadily?<T>(read: () => Promise<T>): Promise<T>
  }
  /** Gives it to the keeper. */
  readonly send: (steps: readonly FeedStep[], isLast: boolean) => Promise<ChangedColumns>
}

/** A table, and how far it has come. */
interface FedTable {
  readonly table: ModelTable
  /** What the table was made for: the collection of the library, and its fields. */
  readonly made: string
  readonly sequence: number
}

/** Steps, and how far they bring each table. */
interface Turn {
  readonly steps: readonly FeedStep[]
  readonly reached: ReadonlyMap<string, FedTable>
  readonly isLast: boolean
}

export class Feed {
  readonly #parts: FeedParts
  /** What was sent. */
  #fed: ReadonlyMap<string, FedTable> = new Map()
  /** What readers see. */
  #committed: ReadonlyMap<string, FedTable> = new Map()
  /** Ids of the collections that are followed. */
  readonly #wanted = new Set<string>()
  #running: Promise<void> | undefined
  /** For each column the newest commit that has changed it, by `table.column`; `table.` for rows that came or went. */
  readonly #changedAt = new Map<string, number>()
  /** The number of the newest commit that the model has. */
  at = 0

  constructor(parts: FeedParts) {
    this.#parts = parts
  }

  /** Resolves when the model has a commit, and these collections whole. */
  async upTo(sequence: number, definitions: readonly Definition[]): Promise<void> {
    for (const { id } of definitions) this.#wanted.add(id)
    while (this.at < sequence || definitions.some(({ id }) => this.#lacks(id))) {
      this.#running ??= this.#run().finally(() => (this.#running = undefined))
      await this.#running
    }
  }

  /** How far a collection has come at least, for readers, by its number of the last write. */
  positionOf(id: string): number {
    return this.#committed.get(id)?.sequence ?? 0
  }

  /** The newest commit that has changed what a query reads. */
  changedAt(reads: DescribedQuery['reads']): number {
    let newest = 0
    for (const [table, column] of reads)
      for (const key of [`${table}.`, `${table}.${column}`]) newest = Math.max(newest, this.#changedAt.get(key) ?? 0)
    return newest
  }

  #lacks(id: string): boolean {
    const definition = this.#definitionOf(id)
    return definition !== undefined && this.#fed.get(id)?.made.endsWith(madeFor(definition)) !== true
  }

  #definitionOf(id: string): Definition | undefined {
    const definition = this.#parts.definitions.find(id)
    return definition?.id === id && definition.type !== 'view' ? definition : undefined
  }

  /** Until one turn finds nothing left: then the model is as the snapshot of that turn. */
  async #run(): Promise<void> {
    const { database, environment, definitions, send } = this.#parts
    const ahead: Promise<ChangedColumns>[] = []
    for (let turn: Turn | undefined; turn?.isLast !== true;) {
      const snapshot = holdSnapshot(database)
      try {
        const read = (): Promise<Turn> => snapshot.read((reader) => this.#turn(reader))
        turn = await (definitions.steadily === undefined ? read() : definitions.steadily(read))
      } finally {
        snapshot.end()
      }
      const answer = send(turn.steps, turn.isLast)
      // One that fails is thrown when its turn has come.
      answer.catch(() => {})
      ahead.push(answer)
      while (ahead.length > (turn.isLast ? 1 : TURNS_AHEAD)) await ahead.shift()
      this.#fed = turn.reached
      if (turn.isLast) this.#note(await answer, snapshot.sequence)
      else await environment.yield()
    }
  }

  #note(changed: ChangedColumns, sequence: number): void {
    this.at = sequence
    this.#committed = this.#fed
    for (const [table, columns] of changed)
      for (const column of columns ?? ['']) this.#changedAt.set(`${table}.${column}`, sequence)
  }

  #turn(reader: GuardReader): Turn {
    const steps: FeedStep[] = []
    const reached = new Map(this.#fed)
    let left = TURN_DOCUMENTS
    const followed = Array.from(this.#wanted, (id) => {
      const definition = this.#definitionOf(id)
      const name = recordsName({ id })
      const { number = 0, sequence = 0 } = reader.lastWrite(name) ?? {}
      return { id, definition, name, sequence, made: definition && `${number} ${madeFor(definition)}` }
    })
    // Two tables may have changed their names.
    for (const { id, made } of followed) {
      const fed = reached.get(id)
      if (fed === undefined || fed.made === made) continue
      steps.push({ kind: 'drop', table: fed.table.name })
      reached.delete(id)
    }
    for (const { id, definition, name, sequence, made } of followed) {
      if (definition === undefined || made === undefined) continue
      let fed = reached.get(id)
      if (fed === undefined) {
        fed = { table: tableOf(definition), made, sequence: 0 }
        steps.push({ kind: 'table', table: fed.table })
      }
      while (left > 0 && fed.sequence < sequence) {
        const written = reader.writtenAfter(name, fed.sequence).slice(0, left)
        const { rows, gone } = rowsOf(definition, written)
        if (rows.length > 0) steps.push({ kind: 'rows', table: fed.table.name, rows })
        if (gone.length > 0) steps.push({ kind: 'gone', table: fed.table.name, numbers: gone })
        left -= written.length
        fed = { ...fed, sequence: written.at(-1)?.sequence ?? sequence }
      }
      reached.set(id, fed)
    }
    return { steps, reached, isLast: left > 0 }
  }
}

/** What a reader sees that was written after a place in a collection. Undefined: too much. */
export function overlayOf(definition: Definition, reader: GuardReader, position = 0): Overlay | undefined {
  const written = reader.writtenAfter(recordsName(definition), position)
  if (written.length >= TURN_DOCUMENTS) return undefined
  return { table: tableOf(definition), ...rowsOf(definition, written) }
}

type Written = ReturnType<GuardReader['writtenAfter']>

function rowsOf(definition: Definition, written: Written): Pick<Overlay, 'rows' | 'gone'> {
  const fields = columnFields(definition)
  const rows: NumberedRow[] = []
  const gone: number[] = []
  for (const { number, document } of written) {
    if (document['_deleted'] === true) gone.push(number)
    else rows.push([number, ...rowOf(definition, fields, document)])
  }
  return { rows, gone }
}

const known = new WeakMap<Definition, string>()

/** Another text: the table has to be made again. */
function madeFor(definition: Definition): string {
  let text = known.get(definition)
  if (text === undefined) {
    text = JSON.stringify(tableOf(definition))
    known.set(definition, text)
  }
  return text
}
