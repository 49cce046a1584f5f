/**
 * The reference for queries over relations: says row by row what docs/internals/relations.md says, on plain arrays of documents. It
 * makes the value that a path stands for, and lets the evaluator of plain predicates judge it.
 */
import { compareValues, isArrayLike } from '../src/codec/collation.ts'
import { compileFieldPath, fieldNames, getField } from '../src/codec/field-path.ts'
import type { Predicate, QuantifiedPredicate } from '../src/query/ast/predicate.ts'
import { evaluate } from './evaluate-predicate.ts'
import type { Document } from './query-fixture.ts'

interface ModelRelation {
  readonly to: string
  readonly many: boolean
}

/** By collection, then by field. */
export type ModelSchema = Readonly<Record<string, Readonly<Record<string, ModelRelation>>>>

/** The path of a related field, as names from the outside in. */
type Names = readonly string[]

export class RelationModel {
  readonly schema: ModelSchema
  readonly documents: Readonly<Record<string, readonly Document[]>>

  constructor(schema: ModelSchema, documents: Readonly<Record<string, readonly Document[]>>) {
    this.schema = schema
    this.documents = documents
  }

  /** The documents that meet the predicate. */
  matching(collection: string, predicate: Predicate): Document[] {
    return this.documents[collection]!.filter((document) => this.meets(collection, document, predicate, false))
  }

  /** By the values of paths, each with '-' before it for descending; ties by id. */
  sorted(collection: string, documents: readonly Document[], sort: readonly string[]): Document[] {
    return documents.toSorted((left, right) => {
      for (const field of [...sort, '_id']) {
        const descending = field.startsWith('-')
        const names = fieldNames(descending ? field.slice(1) : field)
        const order = compareValues(this.valueAt(collection, left, names), this.valueAt(collection, right, names))
        if (order !== 0) return descending ? -order : order
      }
      return 0
    })
  }

  /** The values by which they are sorted. */
  keysOf(collection: string, documents: readonly Document[], sort: readonly string[]): unknown[][] {
    return documents.map((document) =>
      sort.map((field) => this.valueAt(collection, document, fieldNames(field.replace(/^-/, ''))) ?? 'missing'),
    )
  }

  /** The value that the path stands for, from the document; undefined if it is missing. */
  valueAt(collection: string, document: Document, names: Names): unknown {
    const step = this.#step(collection, names[0]!)
    if (step === undefined || names.length === 1) return getField(document, compileFieldPath(names.join('.')))
    const values = this.#follow(collection, document, names[0]!).map((one) =>
      this.valueAt(step.to, one, names.slice(1)),
    )
    if (!step.many) return values[0]
    return values.flatMap((value) => (value === undefined ? [] : isArrayLike(value) ? Array.from(value) : [value]))
  }

  /** The document with related documents in place of ids. */
  populated(collection: string, document: Document, paths: readonly Names[]): Record<string, unknown> {
    const row: Record<string, unknown> = { ...document }
    for (const name of new Set(paths.flatMap((names) => names.slice(0, 1)))) {
      const { to, many } = this.#step(collection, name)!
      const further = paths.filter((names) => names[0] === name).map((names) => names.slice(1))
      const byId = new Map(this.#follow(collection, document, name).map((one) => [one._id, one]))
      const relation = this.schema[collection]?.[name]
      const ids = relation === undefined ? [...byId.keys()].sort() : idsOf(document[name], relation.many)
      const found = ids.flatMap((id) => byId.get(id as string) ?? []).map((one) => this.populated(to, one, further))
      row[name] = many ? found : (found[0] ?? null)
    }
    return row
  }

  meets(collection: string, document: Document, predicate: Predicate, negated: boolean): boolean {
    switch (predicate.kind) {
      case 'and':
      case 'or': {
        const all = (predicate.kind === 'and') !== negated
        const holds = (part: Predicate): boolean => this.meets(collection, document, part, negated)
        return all ? predicate.of.every(holds) : predicate.of.some(holds)
      }
      case 'not':
        return this.meets(collection, document, predicate.of, !negated)
      case 'quantified':
        return this.#meetsQuantified(collection, document, predicate) !== negated
      default: {
        const value = this.valueAt(collection, document, fieldNames(predicate.path))
        return evaluate({ ...predicate, path: 'value' }, value === undefined ? {} : { value }, negated)
      }
    }
  }

  #meetsQuantified(collection: string, document: Document, { path, which, of }: QuantifiedPredicate): boolean {
    let reached: { readonly collection: string; readonly document: Document }[] = [{ collection, document }]
    for (const name of fieldNames(path))
      reached = reached.flatMap((from) => {
        const { to } = this.#step(from.collection, name)!
        return this.#follow(from.collection, from.document, name).map((one) => ({ collection: to, document: one }))
      })
    const holds = (one: (typeof reached)[number]): boolean => this.meets(one.collection, one.document, of, false)
    if (which === 'every') return reached.length > 0 && reached.every(holds)
    return reached.some(holds) === (which === 'some')
  }

  /** The related documents, one step away. */
  #follow(collection: string, document: Document, name: string): Document[] {
    const relation = this.schema[collection]?.[name]
    if (relation !== undefined) {
      const ids = idsOf(document[name], relation.many)
      return this.documents[relation.to]!.filter(({ _id }) => ids.includes(_id))
    }
    const [from, field] = name.split('_via_') as [string, string]
    const { many } = this.schema[from]![field]!
    return this.documents[from]!.filter((one) => idsOf(one[field], many).includes(document._id))
  }

  #step(collection: string, name: string): ModelRelation | undefined {
    const forward = this.schema[collection]?.[name]
    if (forward !== undefined) return forward
    const [from, field] = name.split('_via_')
    const back = field === undefined ? undefined : this.schema[from!]?.[field]
    return back?.to === collection ? { to: from!, many: true } : undefined
  }
}

/** An id, or for many an array of ids. */
export function idsOf(value: unknown, many: boolean): unknown[] {
  return many && Array.isArray(value) ? (value as unknown[]) : [value]
}
