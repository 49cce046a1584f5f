/** Writes as they wait and are sent, and what they make of a record. docs/internals/client.md is the contract. */
import { badArgument, callUser, isObject } from 'pannier/internal'

/** The fields of a record. */
export type Values = Readonly<Record<string, unknown>>

/**
 * The base of a write: a revision of the server, or a write of this device. `rev` is the revision of this write, if it is known. Null: whatever is there.
 */
export type Base = string | { readonly n: number; readonly at: number; readonly rev?: string } | null

/** The transaction of this device that a write is based on. */
export function basedOn(write: object): number | undefined {
  return (write as { readonly base?: { readonly n?: number } | null }).base?.n
}

/** New files by the keys of file fields. Their content is beside the queue, by `part`. */
export type SentFiles = Readonly<Record<string, readonly { readonly part: string; readonly name: string }[]>>

interface Written {
  readonly collection: string
  readonly id: string
  readonly values: Values
  readonly files?: SentFiles
}

type SettingWrite =
  | (Written & { readonly action: 'create' })
  | (Written & {
      readonly action: 'update'
      readonly base: Base
      /** The values that the update found in its fields. Then others may have changed the other fields. */
      readonly was?: Values
      /** The writes of this device that stored what it found, by field. The server may store it otherwise than it was sent. */
      readonly own?: Readonly<Record<string, { readonly n: number; readonly at: number }>>
    })

/** A write as the server takes it. */
export type SentWrite =
  | SettingWrite
  | { readonly collection: string; readonly action: 'delete'; readonly id: string; readonly base: Base }

/** The name of a file that the server does not have. No name of the server has a slash. */
export const NEW_FILE: RegExp = /^new\/([0-9a-f]{32})\/(.*)$/s

/** A record, as collections of the client give it. */
export interface NamedRecord {
  /** The id of the record. */
  readonly id: string
  /** The name of the collection. */
  readonly collectionName: string
}

/** The name of a record in the whole database. */
export function keyOf(collection: string, id: string): string {
  return `${collection}/${id}`
}

/** A record after a write; null: no record. A field that the client does not know stays. */
export function written(record: Values | null, write: SentWrite): Values | null {
  if (write.action === 'delete') return null
  const values = shownValues(write)
  if (write.action === 'create') return { ...record, id: write.id, collectionName: write.collection, ...values }
  if (record === null) return null
  const changed: Record<string, unknown> = { ...record }
  for (const [name, value] of Object.entries(values)) change(changed, name, value)
  return changed
}

/** The values that a write sets, with names for its new files: stored files come before them. */
export function shownValues(write: SentWrite): Values {
  if (write.action === 'delete') return {}
  const shown: Record<string, unknown> = { ...write.values }
  for (const [key, files] of Object.entries(write.files ?? {})) {
    const names = files.map(({ part, name }) => `new/${part}/${name}`)
    shown[key] = Object.hasOwn(shown, key) ? [...listOf(shown[key]), ...names] : names[0]
  }
  return shown
}

export function hasFiles(write: SentWrite): boolean {
  return 'files' in write
}

/** The write with other values. Names of new files in them are read again. */
export function withValues(write: SettingWrite, values: Values): SettingWrite {
  const { files: _, ...others } = write
  return { ...others, values }
}

/** The field that a name of `values` means, without its modifier. */
export function fieldOf(name: string): string {
  return name.replace(/^\+|[+-]$/g, '')
}

/** The change of a record by a name with a modifier, PocketBase's: `count+`, `tags+`, `+tags`, `tags-`. */
function change(record: Record<string, unknown>, name: string, value: unknown): void {
  const field = fieldOf(name)
  const old = Object.hasOwn(record, field) ? record[field] : undefined
  if (field === name) record[field] = value
  else if (typeof value === 'number' && !Array.isArray(old))
    record[field] = ((old as number | undefined) ?? 0) + (name.endsWith('-') ? -value : value)
  else {
    const [items, given] = [listOf(old), listOf(value)]
    const others = items.filter((item) => !given.includes(item))
    if (!name.endsWith('-'))
      record[field] = name.startsWith('+') ? [...given, ...others] : [...items, ...without(given, items)]
    else record[field] = Array.isArray(old) ? others : (others[0] ?? '')
  }
}

function without(items: readonly unknown[], known: readonly unknown[]): unknown[] {
  return items.filter((item) => !known.includes(item))
}

export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null || value === '' ? [] : [value]
}

/** The values that a function of the app makes of a write. @throws TypeError */
export function valuesOf(name: string, run: () => unknown): Values | undefined {
  return callUser(`${name}()`, 'the function', run, VALUES)
}

const VALUES = {
  what: 'an object of values, or undefined',
  is: (value: unknown): value is Values | undefined => value === undefined || isObject(value),
}

/** @throws TypeError */
export function checkId(call: string, id: unknown): asserts id is string {
  if (typeof id !== 'string' || id === '') throw badArgument(`${call}()`, 'the id must be a text', id)
}
