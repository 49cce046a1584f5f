/**
 * How indexes are declared, and how a declaration becomes a definition.
 */
import { PannierError } from '../base/errors.ts'
import { isReserved } from '../codec/document-format.ts'
import { fieldNames, parseOrderedField } from '../codec/field-path.ts'
import type { IndexDefinition, IndexField } from '../document/index-definition.ts'

export type { IndexDefinition, IndexField }
export { indexTreeName } from '../document/index-definition.ts'

/**
 * How an index is declared: a field ('age', descending '-age'), several (['city', '-age']), or the long form. `multi`: the
 * field may hold an array, each distinct element of which gets an entry; such an index has one field.
 */
export type IndexInput<Path extends string = string> =
  | OrderedPath<Path>
  | readonly OrderedPath<Path>[]
  | {
      readonly on: OrderedPath<Path> | readonly OrderedPath<Path>[]
      readonly multi?: boolean
      readonly name?: string
    }

/** A path, '-' before it for descending. */
export type OrderedPath<Path extends string> = Path | `-${Path}`

/** A declaration in full: a definition that has no number yet. */
export interface IndexDeclaration {
  readonly name: string
  readonly fields: readonly IndexField[]
  readonly multi: boolean
}

/** Keys must stay well below the size of a page. */
export const INDEX_FIELDS_MAX = 4
/** Of one collection. */
export const INDEXES_MAX = 64
/** `builtTo` of an index that has no entries yet: lower than any sequence number. */
export const NOTHING_BUILT = -1
export const NAME_CHARS_MAX = 200

/** Checks an argument of the public API: throws a TypeError for what is no declaration. */
export function parseIndexInput(input: IndexInput): IndexDeclaration {
  const long = (typeof input === 'string' || Array.isArray(input) ? { on: input } : input) as LongInput
  if (typeof long !== 'object' || long === null)
    throw new TypeError('an index is a field, an array of fields or { on, multi, name }')
  for (const option of Object.keys(long)) {
    if (!LONG_INPUT_OPTIONS.has(option)) throw new TypeError(`unknown option of an index: ${option}`)
  }
  const paths: readonly unknown[] = Array.isArray(long.on) ? long.on : [long.on]
  if (paths.length === 0 || paths.length > INDEX_FIELDS_MAX) {
    throw new TypeError(`an index has 1 to ${INDEX_FIELDS_MAX} fields, not ${paths.length}`)
  }
  const fields = paths.map(parseIndexField)
  if (new Set(fields.map((field) => field.path)).size !== fields.length)
    throw new TypeError('an index names a field twice')
  const multi = long.multi ?? false
  if (typeof multi !== 'boolean') throw new TypeError('multi is true or false')
  if (multi && fields.length > 1) throw new TypeError('a multi index has one field')
  const name = long.name ?? fields.map(({ path, descending }) => (descending ? `-${path}` : path)).join(',')
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX * INDEX_FIELDS_MAX) {
    throw new TypeError('the name of an index is a text that is neither empty nor too long')
  }
  return { name, fields, multi }
}

/** '-age' -> { path: 'age', descending: true } */
export function parseIndexField(text: unknown): IndexField {
  const field = parseOrderedField(text)
  if (isReserved(fieldNames(field.path)[0]!) && field.path !== '_id')
    throw new TypeError(`an index can't have the field '${field.path}'`)
  return field
}

export function sameIndex(left: IndexDeclaration, right: IndexDeclaration): boolean {
  return (
    left.multi === right.multi &&
    left.fields.length === right.fields.length &&
    left.fields.every(
      ({ path, descending }, at) => path === right.fields[at]!.path && descending === right.fields[at]!.descending,
    )
  )
}

type LongInput = Exclude<IndexInput, string | readonly string[]>

const LONG_INPUT_OPTIONS: ReadonlySet<string> = new Set(['on', 'multi', 'name'])

export function indexMismatch(name: string): PannierError {
  return new PannierError('PANNIER_INDEX_MISMATCH', `The index '${name}' has another definition.`, {
    details: { name },
  })
}
