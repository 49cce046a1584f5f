/** Declares indexes, and defines them in the catalog. Each change is small, whatever the size of the collection. */
import { checkOptions, type OptionNames, ArgumentError, badArgument } from '../base/options.ts'
import { PannierError } from '../base/errors.ts'
import { lazyModule } from '../base/lazy-module.ts'
import { isPlainObject } from '../codec/collation.ts'
import { collationNamed } from '../codec/registered-collation.ts'
import { isReserved } from '../codec/encode-document.ts'
import { fieldNames, parseOrderedField } from '../codec/field-path.ts'
import {
  type Catalog,
  indexTreeName,
  type CollectionState,
  type IndexDefinition,
  type IndexField,
  type IndexSelector,
  type TextSettings,
} from '../document/catalog.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import type * as Drop from './drop.ts'

export type { IndexDefinition, IndexField, IndexSelector }

/**
 * How an index is declared: a field ('age', descending '-age'), several (['city', '-age']), or the long form (docs/internals/indexes.md):
 *
 * - `multi`: the field may hold an array. Each distinct element gets an entry. Such an index has one field.
 * - `where`: only documents that this selector matches are in the index.
 * - `unique`: a write that would give two documents the same values fails with PANNIER_NOT_UNIQUE.
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

/** Fields of one index. Keys must stay well below the size of a page. A text index has up to 32: its keys are words. */
export const INDEX_FIELDS_MAX = 4
const TEXT_FIELDS_MAX = 32
/** Indexes of one collection. Each write keeps all of them up to date. */
export const INDEXES_MAX = 64
/** `builtTo` of an index that has no entries yet: lower than any sequence number. */
const NOTHING_BUILT = -1
/** Characters of the name of a collection, an index or a view. Long enough for any name, short enough for a key. */
export const NAME_CHARS_MAX = 200

/** Misses while what drops an index is being loaded. */
export const dropping: () => typeof Drop = lazyModule(() => import('./drop.ts'))

/** The call that error messages name. */
const CALL = 'collection()'

/** Checks an index of `collection()`: throws a TypeError for a wrong declaration. */
export function parseIndexInput(input: IndexInput): IndexDeclaration {
  const long = (typeof input === 'string' || Array.isArray(input) ? { on: input } : input) as LongInput
  if (long?.on === undefined) throw badArgument(CALL, 'an index must be a path, paths or { on, … }', long)
  checkOptions(`${CALL}: an index`, long, INDEX_OPTIONS)
  const paths: readonly unknown[] = Array.isArray(long.on) ? long.on : [long.on]
  const most = long.text === true ? TEXT_FIELDS_MAX : INDEX_FIELDS_MAX
  if (paths.length === 0 || paths.length > most)
    throw badArgument(CALL, `an index must have 1 to ${most} fields`, paths.length)
  const fields = paths.map(parseIndexField)
  if (new Set(fields.map((field) => field.path)).size !== fields.length)
    throw badArgument(CALL, 'fields must differ', paths.join())
  const { multi = false, unique = false, text = false } = long
  for (const flag of [multi, unique, text])
    if (typeof flag !== 'boolean') throw badArgument(CALL, 'multi, unique and text must be booleans', flag)
  if (multi && fields.length > 1) throw badArgument(CALL, 'a multi index must have one field', paths.join())
  const { dialect, collation } = long
  const order = collationNamed(collation)
  if (dialect !== undefined && dialect !== 'couchdb')
    throw badArgument(CALL, "dialect must be 'couchdb' or undefined", dialect)
  if (order !== undefined && (dialect === undefined || multi || text))
    throw badArgument(CALL, "collation must be with dialect: 'couchdb', not multi or text", collation)
  const kind = {
    ...(dialect !== undefined && { dialect }),
    ...(order !== undefined && { collation: order.name }),
    ...(unique && { unique }),
    ...(long.where !== undefined && { where: copyWhere(long.where) }),
    ...(text && { text: textSettings(long, fields) }),
  }
  if (long.language !== undefined && !text) throw badArgument(CALL, 'text must be true with language', text)
  const name = long.name ?? defaultName(fields, kind)
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX * INDEX_FIELDS_MAX) {
    throw badArgument(CALL, `index name must be a string of 1 to ${NAME_CHARS_MAX * INDEX_FIELDS_MAX} characters`, name)
  }
  return { name, fields, multi, ...kind }
}

/** '-age' -> { path: 'age', descending: true } */
function parseIndexField(text: unknown): IndexField {
  const field = parseOrderedField(text)
  if (isReserved(fieldNames(field.path)[0]!) && field.path !== '_id')
    throw new ArgumentError(`the field of an index must not start with '_'`, field.path)
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

/** The identity: everything but the name. */
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
  if (!isPlainObject(where)) throw badArgument(CALL, 'where must be a selector', where)
  return JSON.parse(JSON.stringify(where)) as IndexSelector
}

function textSettings({ multi, unique, language }: LongInput, fields: readonly IndexField[]): TextSettings {
  if (multi || unique) throw badArgument(CALL, 'a text index must not be multi or unique', multi ? 'multi' : 'unique')
  const wrong = fields.find(({ descending, path }) => descending || path === '_id')
  if (wrong) throw badArgument(CALL, "the fields of a text index must not be descending or '_id'", wrong.path)
  if (language === undefined) return {}
  // Throws a RangeError for what is no language tag.
  const [tag] = typeof language === 'string' ? Intl.getCanonicalLocales(language) : []
  if (tag === undefined) throw badArgument(CALL, "language must be a BCP 47 tag like 'en'", language)
  return { language: tag }
}

export function indexMismatch(name: string): PannierError {
  return new PannierError('PANNIER_INDEX_MISMATCH', `The index '${name}' has another definition.`, {
    details: { name },
  })
}

/** Indexes that the collection does not have; fails if it has a different one of that name. */
export function missingIndexes(
  state: CollectionState | undefined,
  declarations: readonly IndexDeclaration[],
): readonly IndexDeclaration[] {
  return declarations.filter((declaration) => {
    const known = state?.indexes.find(({ name }) => name === declaration.name)
    if (known !== undefined && !sameIndex(known, declaration)) throw indexMismatch(known.name)
    return known === undefined
  })
}

/** Adds missing indexes. In an empty collection they are ready at once; in others they must be built. */
export function defineIndexes(
  transaction: WriteTransaction,
  catalog: Catalog,
  state: CollectionState,
  declarations: readonly IndexDeclaration[],
): CollectionState {
  const missing = missingIndexes(state, declarations)
  if (missing.length === 0) return state
  if (state.indexes.length + missing.length > INDEXES_MAX) {
    throw new PannierError('PANNIER_LIMIT_EXCEEDED', `A collection has at most ${INDEXES_MAX} indexes.`)
  }
  const builtTo = transaction.tree(state.trees.ids)!.count() === 0 ? undefined : NOTHING_BUILT
  const added = missing.map((declaration, at): IndexDefinition => {
    const number = state.nextIndexNumber + at
    transaction.createTree(indexTreeName(state.number, number), 'ordered')
    return { number, ...declaration, builtTo }
  })
  return catalog.change(transaction, state, {
    indexes: [...state.indexes, ...added],
    nextIndexNumber: state.nextIndexNumber + added.length,
  })
}
