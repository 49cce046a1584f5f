/** `fields` of a request: what is shown of a record, by names that may be dotted, `*`, and with `:excerpt(max, ellipsis)`. */
import { isObject } from 'pannier/internal'
import { withSortedKeys } from '../../fields/cast.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import { excerpt } from '../../fields/excerpt.ts'

type Modifier = (value: unknown) => unknown

/** Modifiers that are wanted, by dotted names. */
type Wanted = ReadonlyMap<string, Modifier | undefined>

/**
 * A function that picks the fields to show; undefined: all of them. A name that nothing has is ignored. Keys come in the order of the
 * alphabet.
 *
 * @throws ServiceError INVALID for a modifier that is unknown or has wrong arguments
 */
export function fieldPicker(fields: string | undefined): ((value: unknown) => unknown) | undefined {
  const names = split(fields ?? '')
  if (names.length === 0) return undefined
  const wanted = new Map(names.map(parsed))
  const isWhole =
    wanted.has('*') && [...wanted].every(([name, modifier]) => !name.includes('.') && modifier === undefined)
  return (value) => withSortedKeys(isWhole ? value : pick(value, wanted))
}

/** Whether `fields` names the revision, which is not shown otherwise. */
export function namesRevision(fields: string | undefined): boolean {
  return fields !== undefined && split(fields).includes(REVISION)
}

export const REVISION = '_rev'

/** Splits fields at commas outside parentheses. */
function split(fields: string): string[] {
  return (fields.match(/(?:\([^)]*\)?|[^,(])+/g) ?? []).map((name) => name.trim()).filter((name) => name !== '')
}

function parsed(field: string): [string, Modifier | undefined] {
  const colon = field.indexOf(':')
  return colon < 0 ? [field, undefined] : [field.slice(0, colon), modifierOf(field.slice(colon + 1))]
}

function modifierOf(text: string): Modifier {
  const [name = '', ...rest] = text.split(/[(), ]+/).filter((part) => part !== '')
  if (name !== 'excerpt') throw wrong(`Unknown modifier ":${name}".`)
  const [size = '', ellipsis = '', ...more] = rest
  const max = /^\d+$/.test(size) ? Number(size) : 0
  if (max === 0 || more.length > 0) throw wrong('":excerpt" takes a length and true or false.')
  const withEllipsis = ['1', 't', 'true'].includes(ellipsis.toLowerCase())
  return (value) => excerpt(value, max, withEllipsis)
}

function wrong(message: string): ServiceError {
  return new ServiceError('INVALID', message)
}

function pick(value: unknown, wanted: Wanted): unknown {
  if (Array.isArray(value)) return isObject(value[0]) ? value.map((item) => pick(item, wanted)) : value
  return isObject(value) ? pickKeys(value, wanted) : value
}

function pickKeys(object: Readonly<Record<string, unknown>>, wanted: Wanted): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(object)) {
    const inside = new Map<string, Modifier | undefined>()
    for (const [name, modifier] of wanted)
      if (`${name}.`.startsWith(`${key}.`)) inside.set(name.slice(key.length + 1), modifier)
    if (inside.size === 0) {
      if (wanted.has('*')) inside.set('', wanted.get('*'))
      else continue
    }
    const modifier = inside.get('')
    picked[key] = inside.has('') ? (modifier?.(value) ?? value) : pick(value, inside)
  }
  return picked
}
