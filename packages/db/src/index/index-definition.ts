/**
 * How indexes are declared, and how a declaration becomes a definition.
 */
import { checkOptions, type OptionNames } from '../base/options.ts'
import { PannierError } from '../base/errors.ts'
import { isPlainObject } from '../codec/collation.ts'
import { collationNamed } from '../codec/registered-collation.ts'
import { isReserved } from '../codec/document-format.ts'
import { fieldNames, parseOrderedField } from '../codec/field-path.ts'
import type { IndexDefinition, IndexField, IndexSelector, TextSettings } from '../document/collection-state.ts'

export type { IndexDefinition, IndexField, IndexSelector }
export { indexTreeName } from '../document/collection-state.ts'

/**
 * How an index is declared: a field ('age', descending '-age'), several (['city', '-age']), or the long form (docs/internals/indexes.md):
 *
 * - `multi`: the field may hold an array, each distinct element of which gets an entry; such an index has one field.
 * - `where`: only documents that this selector matches are in the index.
 * - `unique`: a write that would give two documents the same values fails with PANNIER_UNIQUE.
 * - `dialect`, `collation`: how `where` is to be understood, and the order of strings, as for `find`.
 * - `text`: for `collection.search`; `language` is a BCP 47 tag.
 */
export type IndexInput<Path extends string = string> =
  | OrderedPath<Path>
  | readonly OrderedPath<Path>[]
  | {
      readonly on: OrderedPath<Path> | readonly OrderedPath<Path>[]
      readonly multi?: boolean
      readonly where?: IndexSelector
      readonly dialect?: 'couchdb' | undefined
      readonly collation?: string | undefined
      readonly unique?: boolean
      readonly text?: boolean
      readonly language?: string
      readonly name?: string
    }

/** A path, '-' before it for descending. */
export type OrderedPath<Path extends string> = Path | `-${Path}`

/** A declaration in full: a definition that has no number yet. */
export type IndexDeclaration = Omit<IndexDefinition, 'number' | 'builtTo'>

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
    throw new TypeError('an index is a field, an array of fields or { on, … }')
  checkOptions('an index', long, INDEX_OPTIONS)
  const paths: readonly unknown[] = Array.isArray(long.on) ? long.on : [long.on]
  if (paths.length === 0 || paths.length > INDEX_FIELDS_MAX) {
    throw new TypeError(`an index has 1 to ${INDEX_FIELDS_MAX} fields, not ${paths.length}`)
  }
  const fields = paths.map(parseIndexField)
  if (new Set(fields.map((field) => field.path)).size !== fields.length)
    throw new TypeError('an index names a field twice')
  const { multi = false, unique = false, text = false } = long
  for (const flag of [multi, unique, text])
    if (typeof flag !== 'boolean') throw new TypeError('multi, unique and text are true or false')
  if (multi && fields.length > 1) throw new TypeError('a multi index has one field')
  const { dialect, collation } = long
  const order = collationNamed(collation)
  if (dialect !== undefined && dialect !== 'couchdb')
    throw new TypeError(`the dialect of an index is 'couchdb' or left out`)
  if (order !== undefined && (dialect === undefined || multi || unique || text))
    throw new TypeError(`collation goes with dialect: 'couchdb', and not with multi, unique or text`)
  const kind = {
    ...(dialect !== undefined && { dialect }),
    ...(order !== undefined && { collation: order.name }),
    ...(unique && { unique }),
    ...(long.where !== undefined && { where: copyWhere(long.where) }),
    ...(text && { text: textSettings(long, fields) }),
  }
  if (long.language !== undefined && !text) throw new TypeError('only a text index has a language')
  const name = long.name ?? defaultName(fields, kind)
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX * INDEX_FIELDS_MAX) {
    throw new TypeError('the name of an index is a text that is neither empty nor too long')
  }
  return { name, fields, multi, ...kind }
}

/** '-age' -> { path: 'age', descending: true } */
export function parseIndexField(text: unknown): IndexField {
  const field = parseOrderedField(text)
  if (isReserved(fieldNames(field.path)[0]!) && field.path !== '_id')
    throw new TypeError(`an index can't have the field '${field.path}'`)
  return field
}

export function sameIndex(left: IndexDeclaration, right: IndexDeclaration): boolean {
  return identityOf(left) === identityOf(right)
}

type LongInput = Exclude<IndexInput, string | readonly string[]>
type IndexKind = Pick<IndexDefinition, 'unique' | 'where' | 'text'>

const INDEX_OPTIONS: OptionNames<LongInput> = {
  on: true,
  multi: true,
  where: true,
  dialect: true,
  collation: true,
  unique: true,
  text: true,
  language: true,
  name: true,
}

/** Everything but the name. */
function identityOf({ fields, multi, unique = false, where, dialect, collation, text }: IndexDeclaration): string {
  const paths = fields.map(({ path, descending }) => [path, descending])
  const words = text === undefined ? null : [text.language]
  return JSON.stringify([paths, multi, unique, where ?? null, dialect ?? null, collation ?? null, words])
}

/** A partial index and a plain one on the same fields have different names; so have a text index and a plain one. */
function defaultName(fields: readonly IndexField[], { where, text }: IndexKind): string {
  const paths = fields.map(({ path, descending }) => (descending ? `-${path}` : path)).join(',')
  const name = text === undefined ? paths : `text ${paths}`
  return where === undefined ? name : `${name} where ${JSON.stringify(where)}`.slice(0, NAME_CHARS_MAX)
}

function copyWhere(where: unknown): IndexSelector {
  if (!isPlainObject(where)) throw new TypeError('where is a selector')
  return JSON.parse(JSON.stringify(where)) as IndexSelector
}

function textSettings({ multi, unique, language }: LongInput, fields: readonly IndexField[]): TextSettings {
  if (multi || unique) throw new TypeError('a text index is neither multi nor unique')
  if (fields.some(({ descending, path }) => descending || path === '_id'))
    throw new TypeError("a text index has plain fields, without '-', and not _id")
  if (language === undefined) return {}
  // Throws a RangeError for what is no language tag.
  const [tag] = typeof language === 'string' ? Intl.getCanonicalLocales(language) : []
  if (tag === undefined) throw new TypeError('language is a BCP 47 tag')
  return { language: tag }
}

export function indexMismatch(name: string): PannierError {
  return new PannierError('PANNIER_INDEX_MISMATCH', `The index '${name}' has another definition.`, {
    details: { name },
  })
}
