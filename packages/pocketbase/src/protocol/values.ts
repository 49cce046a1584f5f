/** Values between the server and a thread: JSON, bytes, and tagged objects for what has another form on each side. */

/** The key of tagged objects. */
export const TAG = '$pannier'

export interface TaggedRecord {
  readonly [TAG]: 'record'
  readonly ref: number
  readonly id: string
  readonly collectionId: string
  readonly collectionName: string
  readonly isNew: boolean
  readonly values: Readonly<Record<string, unknown>>
}

/** A value whose text has a type. */
interface TaggedText {
  readonly [TAG]: 'date' | 'json' | 'collection' | 'settings'
  readonly text: string
}

/** A file: its content, or a number by which the server knows an upload. */
export interface TaggedFile {
  readonly [TAG]: 'file'
  readonly name: string
  readonly size: number
  readonly bytes?: Uint8Array
  readonly ref?: number
}

export type Tagged = TaggedRecord | TaggedText | TaggedFile

export function isTagged(value: object): value is Tagged {
  return Object.hasOwn(value, TAG)
}

/** A copy in which `replace` has replaced objects. What it leaves undefined is copied: lists and plain objects, without functions. */
export function copied(value: unknown, replace: (value: object) => unknown): unknown {
  if (typeof value === 'function') return undefined
  if (typeof value !== 'object' || value === null) return value
  const replaced = replace(value)
  if (replaced !== undefined) return replaced
  if (Array.isArray(value)) return Array.from(value, (one) => copied(one, replace))
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copied(one, replace)]))
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype === null || prototype === Object.prototype
}
