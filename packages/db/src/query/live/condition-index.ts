/**
 * Finds the conditions that a document meets among thousands. Each is tested once, however many queries share it.
 * Conditions that require certain values of a field are found by these values; only the others are all tested.
 */
import { assert } from '../../base/errors.ts'
import { isArrayLike } from '../../codec/collation.ts'
import { encodeKey } from '../../codec/key-encoding.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import { identityOf, conjuncts, type Condition, type WithinCondition } from '../ast/normalise.ts'
import { isPoints } from '../ast/value-set.ts'
import { documentFields, compileCondition, type ReadField, type Test } from '../match.ts'

/** A condition that asks for more values than this is tested with every document. */
const POINTS_MAX = 100

/** A condition and who asks for it. */
interface ConditionGroup<Query> {
  readonly test: Test<StoredDocument>
  readonly queries: Set<Query>
}

/** The buckets of a group, each once: it is removed from these. */
interface PlacedGroup<Query> extends ConditionGroup<Query> {
  readonly key: string
  readonly places: BucketKey[]
}

/** Values of a field (as keys) to the groups that ask for them. */
interface FieldIndex<Query> {
  readonly read: ReadField<StoredDocument>
  readonly groups: Map<string, Set<PlacedGroup<Query>>>
}

/** The bucket of a group: a value of a field. Every document that meets the condition has one of these values. */
type BucketKey = readonly [path: string, key: string]

export class ConditionIndex<Query> {
  /** Conditions that were tested with a document, since ever. */
  evaluations = 0
  readonly #groups = new Map<string, PlacedGroup<Query>>()
  readonly #fields = new Map<string, FieldIndex<Query>>()
  readonly #others = new Set<PlacedGroup<Query>>()
  readonly #groupsOf = new Map<Query, PlacedGroup<Query>>()

  /** True if everything that was added is removed. */
  get isEmpty(): boolean {
    return [this.#groups, this.#fields, this.#others, this.#groupsOf].every(({ size }) => size === 0)
  }

  /** A query has one condition, however often it is added. Regular expressions in it have to be loaded. */
  add(condition: Condition, query: Query): ConditionGroup<Query> {
    const key = identityOf(condition)
    const group = this.#groups.get(key) ?? this.#place(key, condition)
    const former = this.#groupsOf.get(query)
    assert(former === undefined || former === group, 'a query keeps its condition')
    this.#groupsOf.set(query, group)
    group.queries.add(query)
    return group
  }

  /** Nothing happens if the query was not added. */
  remove(query: Query): void {
    const group = this.#groupsOf.get(query)
    if (group === undefined) return
    this.#groupsOf.delete(query)
    group.queries.delete(query)
    if (group.queries.size > 0) return
    this.#groups.delete(group.key)
    this.#others.delete(group)
    for (const [path, value] of group.places) {
      const field = this.#fields.get(path)!
      const groups = field.groups.get(value)!
      groups.delete(group)
      if (groups.size === 0) field.groups.delete(value)
      if (field.groups.size === 0) this.#fields.delete(path)
    }
  }

  /** The groups whose condition the document meets. */
  matching(document: StoredDocument): ConditionGroup<Query>[] {
    const candidates = new Set(this.#others)
    for (const { read, groups } of this.#fields.values())
      for (const key of keysOf(read(document))) for (const group of groups.get(key) ?? []) candidates.add(group)
    return [...candidates].filter(({ test }) => {
      this.evaluations++
      return test(document)
    })
  }

  #place(key: string, condition: Condition): PlacedGroup<Query> {
    const test = compileCondition(condition, documentFields)
    const group: PlacedGroup<Query> = { key, test, queries: new Set(), places: [] }
    const places = placesOf(condition)
    if (places === undefined) this.#others.add(group)
    for (const place of places ?? []) {
      const groups = this.#groupsAt(place)
      // Branches of an `or` may name one value twice.
      if (!groups.has(group)) group.places.push(place)
      groups.add(group)
    }
    this.#groups.set(key, group)
    return group
  }

  #groupsAt([path, key]: BucketKey): Set<PlacedGroup<Query>> {
    let field = this.#fields.get(path)
    if (field === undefined) {
      field = { read: documentFields(path), groups: new Map() }
      this.#fields.set(path, field)
    }
    let groups = field.groups.get(key)
    if (groups === undefined) {
      groups = new Set()
      field.groups.set(key, groups)
    }
    return groups
  }
}

/** Undefined: it may be met by a document with any values. */
function placesOf(condition: Condition): BucketKey[] | undefined {
  if (condition.kind === 'or') {
    const branches = condition.of.map(placesOf)
    return branches.some((places) => places === undefined) ? undefined : branches.flatMap((places) => places!)
  }
  const choices = conjuncts(condition).flatMap((part) => {
    if (part.kind === 'or') return [placesOf(part) ?? []].filter(({ length }) => length > 0)
    return part.kind === 'within' && isFindable(part) ? [pointsOf(part)] : []
  })
  return choices.toSorted((left, right) => left.length - right.length)[0]
}

function isFindable({ values, every, collation }: WithinCondition): boolean {
  return !every && collation === undefined && values.length <= 2 * POINTS_MAX && isPoints(values)
}

function pointsOf({ path, values }: WithinCondition): BucketKey[] {
  return values.flatMap(({ value, above }) => (above ? [] : [[path, encodeKey(value)] as const]))
}

/** The value and, of an array, its elements. Equal values have equal keys. */
function keysOf(value: unknown): Set<string> {
  const keys = new Set([encodeKey(value)])
  if (isArrayLike(value)) for (let at = 0; at < value.length; at++) keys.add(encodeKey(value[at]))
  return keys
}
