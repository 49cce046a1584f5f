/**
 * Values that the server generates for a write: it completes dates, and names files. So a later update of the device can say that it
 * knows a field by that write. docs/internals/sync-writes.md is the contract.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Definition } from '../../definitions/definition.ts'
import { meant } from '../../fields/apply-input.ts'
import { valueIn } from '../../fields/field-types.ts'
import type { WrittenRecord } from '../../records/write/operations.ts'
import { digestOf, type Outcomes } from './outcomes.ts'
import type { GeneratedValues, PushTransaction, PushWrite } from './push-format.ts'

/** Digests, by write and field, of what is stored otherwise than it was sent. Undefined: all is stored as it was sent. */
export function generatedValues(
  writes: readonly PushWrite[],
  written: readonly (WrittenRecord | undefined)[],
): GeneratedValues | undefined {
  const made = writes.map((write, at) => {
    const { definition, document } = written[at] ?? {}
    if (definition === undefined || document === undefined || write.action === 'delete') return {}
    const { values, files = {} } = write
    const names = new Set([...Object.keys(values), ...Object.keys(files)])
    const digests = plainFields(definition, names).flatMap((field): [string, string][] => {
      const stored = valueIn(document, field)
      const isAsSent = !Object.hasOwn(files, field.name) && isDeepStrictEqual(values[field.name], stored)
      return isAsSent ? [] : [[field.name, digestOf(stored)]]
    })
    return Object.fromEntries(digests)
  })
  return made.some((digests) => Object.keys(digests).length > 0) ? made : undefined
}

/** A modifier makes a value of what is there, which the device may not have seen. */
function plainFields({ fields }: Definition, names: ReadonlySet<string>): NonNullable<ReturnType<typeof meant>>[0][] {
  return [...names].flatMap((name) => {
    const [field, modifier] = meant(fields, name) ?? []
    return field === undefined || modifier !== undefined || field.hidden ? [] : [field]
  })
}

/** Returns a function that says whether a field has the value that an earlier write has stored. The update names this write. */
export async function ownValues(
  outcomes: Outcomes,
  device: string,
  { n, writes }: PushTransaction,
  at: number,
): Promise<(field: string, value: unknown) => boolean> {
  const write = writes[at]!
  const own = new Map(Object.entries(write.action === 'update' ? (write.own ?? {}) : {}))
  const numbers = [...new Set(Array.from(own.values(), (made) => made.n))].filter((one) => one !== n)
  const stored = await outcomes.get(device, numbers)
  const known = new Map(numbers.map((number, index) => [number, stored[index]?.outcome]))
  return (field, value) => {
    const by = own.get(field)
    if (by === undefined) return false
    const before = by.n === n && by.at < at ? writes[by.at] : undefined
    // Nobody writes in between.
    if (before !== undefined) return before.collection === write.collection && before.id === write.id
    const outcome = known.get(by.n)
    return outcome?.status === 'ok' && outcome.made?.[by.at]?.[field] === digestOf(value)
  }
}
