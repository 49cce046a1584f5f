/**
 * Groups rows within bounded memory, for any number of groups. Groups that do not fit are left out, the last ones
 * first. After the other groups are returned, the rows are read again for those that come next. The order of groups is
 * total: by the grouped values as an index sorts them, then by the values themselves.
 */
import { PannierError } from '../../base/errors.ts'
import type { Pause } from '../../base/long-work.ts'
import { compileFieldPath, getField } from '../../codec/field-path.ts'
import { encodeIndexValue } from '../../index/index-key.ts'
import { ACCUMULATOR_BYTES, accumulatorOf, bytesOf, identityOf, plainValue, type Accumulator } from './accumulators.ts'
import { sortInSlices } from '../sort-in-slices.ts'
import type { AggregateStep, GroupsSpecification } from './specification.ts'

/** Estimated memory of a table of groups, at most. */
export const GROUP_BYTES_MAX: number = 128 * 2 ** 20
const GROUP_BYTES = 200
/** Groups that the place of a cut is guessed from, and those that are looked at in one step. */
const SAMPLE_GROUPS = 512
const STEP_GROUPS = 4096

export interface Group {
  /** Groups are in the order of this, then of `identity`. */
  readonly key: string
  readonly identity: string
  /** Aligned with the paths. */
  readonly values: readonly unknown[]
  readonly accumulators: readonly Accumulator[]
}

export function compareGroups(left: Pick<Group, 'key' | 'identity'>, right: Pick<Group, 'key' | 'identity'>): number {
  if (left.key !== right.key) return left.key < right.key ? -1 : 1
  return left.identity < right.identity ? -1 : left.identity > right.identity ? 1 : 0
}

/** The key that identifies a group, and its place among the groups. */
export function groupName(values: readonly unknown[]): { readonly key: string; readonly identity: string } {
  let key = ''
  for (const value of values) key += encodeIndexValue(value, false)
  return { key, identity: identityOfAll(values) }
}

/** One walk through the rows. */
export class GroupTable {
  #last: Group | undefined
  readonly #after: Group | undefined
  readonly #steps: readonly AggregateStep[]
  readonly #groups = new Map<string, Group>()
  readonly #groupPaths: readonly ((row: unknown) => unknown)[]
  readonly #stepPaths: readonly ((row: unknown) => unknown)[]
  readonly #bytesMax: number
  #bytes = 0
  readonly #bytesOf = new Map<Group, number>()

  /** Only of groups that come after `after`. */
  constructor(
    { groupPaths, steps, empty }: Pick<GroupsSpecification, 'groupPaths' | 'steps' | 'empty'>,
    after: Group | undefined,
    bytesMax: number,
  ) {
    this.#after = after
    this.#steps = steps
    this.#bytesMax = bytesMax
    this.#groupPaths = groupPaths.map((path) => readerOf(path, empty?.get(path)))
    this.#stepPaths = steps.map(({ path }) => (path === '' ? () => undefined : readerOf(path, empty?.get(path))))
  }

  /** The last group, if there are more after it. */
  get last(): Group | undefined {
    return this.#last
  }

  /** The size: how many groups there are. */
  get size(): number {
    return this.#groups.size
  }

  /** Nothing more is to be added before it was trimmed. */
  get isTooLarge(): boolean {
    return this.#bytes > this.#bytesMax
  }

  add(row: object): void {
    const values = this.#groupPaths.map((read) => read(row))
    const identity = identityOfAll(values)
    const group = this.#groups.get(identity) ?? this.#make(values, identity)
    if (group === undefined) return
    let grown = 0
    for (let at = 0; at < group.accumulators.length; at++) {
      grown += group.accumulators[at]!.add(this.#stepPaths[at]!(row))
    }
    if (grown !== 0) this.#grow(group, grown)
  }

  /** The only group of a table without paths, which exists also without rows. */
  whole(): Group {
    const [group] = this.#groups.values()
    return group ?? { ...groupName([]), values: [], accumulators: this.#accumulators() }
  }

  /** In order. */
  groups(pause: Pause): Promise<Group[]> {
    return sortInSlices([...this.#groups.values()], compareGroups, pause)
  }

  /** Drops the last groups, about half of them a time, until there is room. */
  async trim(pause: Pause): Promise<void> {
    while (this.isTooLarge) {
      if (this.#groups.size === 1)
        throw new PannierError('PANNIER_LIMIT_EXCEEDED', 'The distinct values of one group take too much memory.')
      const last = this.#middle()
      this.#last = last
      let looked = 0
      for (const group of this.#groups.values()) {
        if (compareGroups(group, last) > 0) {
          this.#groups.delete(group.identity)
          this.#bytes -= this.#bytesOf.get(group)!
          this.#bytesOf.delete(group)
        }
        if (++looked % STEP_GROUPS === 0) await pause()
      }
    }
  }

  /** A group that has others after it: about as many as before it. */
  #middle(): Group {
    const step = Math.ceil(this.#groups.size / SAMPLE_GROUPS)
    const sample: Group[] = []
    let at = 0
    for (const group of this.#groups.values()) if (at++ % step === 0) sample.push(group)
    // Of two groups and more.
    return sample.sort(compareGroups)[(sample.length - 1) >> 1]!
  }

  /** Undefined: it is not one for this pass. */
  #make(values: readonly unknown[], identity: string): Group | undefined {
    const group = { ...groupName(values), values: values.map(plainValue), accumulators: this.#accumulators() }
    if (this.#after !== undefined && compareGroups(group, this.#after) <= 0) return undefined
    if (this.#last !== undefined && compareGroups(group, this.#last) > 0) return undefined
    this.#groups.set(identity, group)
    let bytes = GROUP_BYTES + ACCUMULATOR_BYTES * group.accumulators.length + group.key.length + 2 * identity.length
    for (const value of values) bytes += bytesOf(value)
    this.#grow(group, bytes)
    return group
  }

  #accumulators(): Accumulator[] {
    return this.#steps.map(({ operator }) => accumulatorOf(operator))
  }

  #grow(group: Group, bytes: number): void {
    this.#bytesOf.set(group, (this.#bytesOf.get(group) ?? 0) + bytes)
    this.#bytes += bytes
  }
}

/** `empty`: what a missing value counts as. */
function readerOf(path: string, empty: unknown): (row: unknown) => unknown {
  const compiled = compileFieldPath(path)
  return empty === undefined ? (row) => getField(row, compiled) : (row) => getField(row, compiled) ?? empty
}

function identityOfAll(values: readonly unknown[]): string {
  if (values.length === 1) return identityOf(values[0])
  let all = ''
  for (const value of values) {
    const identity = identityOf(value)
    all += `${identity.length}:${identity}`
  }
  return all
}
