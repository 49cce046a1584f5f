/** Writes as they wait and are sent, and what they make of a record. docs/internals/client.md is the contract. */

/** The fields of a record. */
export type Values = Readonly<Record<string, unknown>>

/**
 * What a write is based on: a revision of the server, or a write of this device, with the revision that it has made if that is known. Null:
 * whatever is there.
 */
export type Base = string | { readonly n: number; readonly at: number; readonly rev?: string } | null

/** A write as the server takes it. */
export type SentWrite =
  | { readonly collection: string; readonly action: 'create'; readonly id: string; readonly values: Values }
  | {
      readonly collection: string
      readonly action: 'update'
      readonly id: string
      readonly base: Base
      readonly values: Values
      /** What the update found in its fields. Then others may have changed the other fields. */
      readonly was?: Values
    }
  | { readonly collection: string; readonly action: 'delete'; readonly id: string; readonly base: Base }

/** The name of a record in the whole database. */
export function keyOf(collection: string, id: string): string {
  return `${collection}/${id}`
}

/** A record after a write; null: no record. A field that the client does not know stays. */
export function written(record: Values | null, write: SentWrite): Values | null {
  if (write.action === 'delete') return null
  if (write.action === 'create') return { ...record, id: write.id, collectionName: write.collection, ...write.values }
  if (record === null) return null
  const changed: Record<string, unknown> = { ...record }
  for (const [name, value] of Object.entries(write.values)) change(changed, name, value)
  return changed
}

/** The field that a name of `values` means, without its modifier. */
export function fieldOf(name: string): string {
  return name.replace(/^\+|[+-]$/g, '')
}

/** Modifiers are PocketBase's: `count+`, `tags+`, `+tags`, `tags-`. */
function change(record: Record<string, unknown>, name: string, value: unknown): void {
  const field = fieldOf(name)
  const old = record[field]
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

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null || value === '' ? [] : [value]
}
