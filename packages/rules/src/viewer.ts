/** Whether a record's own values meet what an account holds. Nothing else is read: no other record, and no account. */
import { column, sqlValue } from './column.ts'
import type { AtomNumber } from './cut-atoms.ts'
import type { OwnSet } from './cut-groups.ts'
import { boundAtoms, type Alternative, type BoundAtoms, type Cut } from './cut-rule.ts'
import { some } from './evaluate.ts'
import { keyOf, type Holding, type Holdings, type Parameters } from './holdings.ts'
import type { RuleRecord, RuleRecords } from './records.ts'
import type { Collection } from './schema.ts'
import { compare, type SqlValue } from './values.ts'

/** The record's side of an alternative: the same for all accounts. */
export interface RecordSide {
  /** The values of the ground; `['*']` if it has none. */
  readonly grounds: readonly string[]
  /** The value of the range; `null` without one. */
  readonly range: SqlValue
  /** The own fields that sets and tests read. */
  readonly own: RuleRecord
}

/** The record's side of an alternative; undefined if its own values do not meet it. */
export function recordSide(rule: Cut, alternative: Alternative, record: RuleRecord): RecordSide | undefined {
  if (!meetsAtoms(rule.stranger, alternative.record, record, NO_RECORDS)) return undefined
  const { ground, range, own } = alternative
  return {
    grounds: ground === undefined ? ['*'] : valuesOf(rule, ground, record),
    range: range === undefined ? null : column(fieldsOf(rule).get(range.field)!, record[range.field]),
    own: Object.fromEntries(own.flatMap((name) => (Object.hasOwn(record, name) ? [[name, record[name]]] : []))),
  }
}

/** The view of an account with these holdings at a time. */
export class Viewer {
  readonly #rule: Cut
  readonly #prepared: readonly (PreparedHolding | null)[]

  constructor(rule: Cut, holdings: Holdings, now: Date) {
    this.#rule = rule
    this.#prepared = holdings.map((holding) => holding && prepare(rule, holding, now))
  }

  /** Whether the account sees a record. */
  shows(record: RuleRecord): boolean {
    return this.#rule.alternatives.some((_, index) => this.showsBy(index, record))
  }

  /** Whether an alternative shows a record. */
  showsBy(index: number, record: RuleRecord): boolean {
    if (this.#prepared[index] === null) return false
    const side = recordSide(this.#rule, this.#rule.alternatives[index]!, record)
    return side?.grounds.some((ground) => this.holds(index, ground)) === true && this.admits(index, side)
  }

  /** Whether the account has a ground of an alternative. */
  holds(index: number, ground: string): boolean {
    const prepared = this.#prepared[index]
    return (
      prepared !== null && prepared !== undefined && (prepared.grounds === undefined || prepared.grounds.has(ground))
    )
  }

  /** Whether the values beside the ground meet the range, the sets and the tests of an alternative. */
  admits(index: number, { range: value, own }: Pick<RecordSide, 'range' | 'own'>): boolean {
    const prepared = this.#prepared[index]
    if (prepared === null || prepared === undefined) return false
    const { range, sets, tests } = this.#rule.alternatives[index]!
    return (
      (range === undefined || this.#inRange(index, value)) &&
      sets.every((set, place) => passesSet(this.#rule, set, prepared.sets[place]!, own)) &&
      tests.every(({ atoms }) => meetsAtoms(prepared.bound(), atoms, own, prepared.records))
    )
  }

  /** The bound of the range of an alternative; `null` if nothing is within it, or there is no range. */
  bound(index: number): SqlValue {
    const prepared = this.#prepared[index]
    const { range } = this.#rule.alternatives[index]!
    if (prepared === null || prepared === undefined || range === undefined) return null
    return range.by === 'account' ? (prepared.holding.bound ?? null) : momentOf(prepared.clock(), range.atoms)
  }

  #inRange(index: number, value: SqlValue): boolean {
    const [one, other] = [value, this.bound(index)].map(
      (each) => ({ value: each, affinity: 'none', real: false }) as const,
    )
    return compare(one!, this.#rule.alternatives[index]!.range!.operator, other!) === true
  }
}

/** A holding, ready to be asked often. */
interface PreparedHolding {
  readonly holding: Holding
  readonly grounds: ReadonlySet<string> | undefined
  readonly sets: readonly { readonly isIn: boolean; readonly values: ReadonlySet<string> }[]
  readonly bound: () => BoundAtoms
  readonly clock: () => BoundAtoms
  readonly records: RuleRecords
}

function prepare(rule: Cut, holding: Holding, now: Date): PreparedHolding {
  const { account } = holding
  return {
    holding,
    grounds: holding.grounds && setOf(holding.grounds),
    sets: holding.sets.map(({ isIn, values }) => ({ isIn, values: setOf(values) })),
    bound: once(() => boundAtoms(rule, account?.record ?? {}, now)),
    clock: once(() => boundAtoms(rule, {}, now)),
    records: recordsOf(account?.records ?? {}),
  }
}

const knownSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/** The set of values. Many viewers have the same holdings, one for each time. */
function setOf(values: readonly string[]): ReadonlySet<string> {
  const known = knownSets.get(values) ?? new Set(values)
  knownSets.set(values, known)
  return known
}

/** The time that an own value is compared with. */
function momentOf({ atoms }: BoundAtoms, [number = 0]: readonly AtomNumber[]): SqlValue {
  const test = atoms.get(number)?.leaf.test
  const sides = test?.kind === 'compare' ? [test.left, test.right] : []
  const moment = sides.find((side) => side.kind === 'parameter')
  return moment?.kind === 'parameter' ? sqlValue(moment.value) : null
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function passesSet(
  rule: Cut,
  set: OwnSet,
  { isIn, values }: PreparedHolding['sets'][number],
  own: RuleRecord,
): boolean {
  const passesOne = (value: string): boolean => values.has(value) === isIn
  const all = valuesOf(rule, set, own)
  return set.isEvery ? all.every(passesOne) : all.some(passesOne)
}

function valuesOf(rule: Cut, { fields: names }: OwnSet, record: RuleRecord): readonly string[] {
  const fields = fieldsOf(rule)
  const [name = ''] = names
  const field = fields.get(name)!
  if (!field.isMany) return [keyOf(names.map((each) => column(fields.get(each)!, record[each])))]
  const elements = Array.isArray(record[name]) ? (record[name] as readonly unknown[]).map(String) : []
  return elements.length === 0 ? [''] : [...new Set(elements)]
}

function fieldsOf({ schema, collection }: Cut): Collection['fields'] {
  return schema.find(collection)!.fields
}

function meetsAtoms(
  { bound, atoms }: BoundAtoms,
  numbers: readonly AtomNumber[],
  record: RuleRecord,
  records: RuleRecords,
): boolean {
  if (numbers.length === 0) return true
  const of = numbers.flatMap((number) => atoms.get(number)?.leaf ?? [])
  return some({ kind: 'and', of }, { rows: new Map([[bound.record, record]]), records, now: bound.now }) === true
}

/** The records of an account's parameters are all that its tests lead to. */
function recordsOf(all: Parameters['records']): RuleRecords {
  const of = (collection: string): readonly RuleRecord[] => all[collection] ?? []
  return {
    get: (collection, id) => of(collection).find((record) => record['id'] === id) ?? null,
    via: (collection, field, id) => ({
      records: of(collection).filter((record) => [record[field]].flat().includes(id)),
      isComplete: true,
    }),
    all: () => ({ records: [], isComplete: true }),
  }
}

const NO_RECORDS: RuleRecords = recordsOf({})
