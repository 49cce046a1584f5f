/** The fields of a view, as PocketBase derives them from its columns. */
import { checkField } from '../../fields/check-field.ts'
import { completeField } from '../../fields/complete-fields.ts'
import type { FieldDefinition } from '../../fields/field-definition.ts'
import { holdsFiles } from '../../fields/field-types.ts'
import { randomText, type Chance } from '../../gateway/chance.ts'
import type { FieldError } from '../../gateway/service-error.ts'
import type { Definition } from '../definition.ts'
import { isSameName } from '../index-statement.ts'
import { isSecret } from '../system-fields.ts'
import { rawMessage } from '../raw-message.ts'
import type { DescribedQuery } from './view-queries.ts'
import { isOneStatement, readViewQuery, trimmedQuery, typeOfText, type ViewQuery } from './view-query.ts'

/** The fields of a view, and why it can't be. */
interface DerivedView {
  readonly fields: readonly FieldDefinition[]
  readonly error: string | undefined
}

/** The view query that fields are read from. */
interface Reading extends ViewQuery {
  readonly all: readonly Definition[]
  /** Names of fields that are read, and that not everybody may see, in lower case. */
  readonly secrets: ReadonlySet<string>
  /** Whether a name may stand for what another query computes. */
  readonly isNested: boolean
}

export function derivedView(
  query: string,
  described: DescribedQuery,
  all: readonly Definition[],
  chance: Chance,
): DerivedView {
  const text = trimmedQuery(query)
  const read = readViewQuery(text)
  const wrong = isOneStatement(text) ? undefined : MANY
  const error = wrong ?? (read.columns.some(({ alias }) => alias === '*') ? WILDCARD : described.error)
  if (error !== undefined) return { fields: [], error }
  const isNested = (text.match(/\bselect\b/gi) ?? []).length > 1
  const reading = { ...read, all, secrets: secretsOf(described, all), isNested }
  const fields: FieldDefinition[] = []
  for (const name of described.columns) fields.push(completeField(fieldOf(name, reading, chance), fields))
  const isSecretId = tells(ID, reading) && !isShownColumn(ID, reading)
  return { fields, error: isSecretId ? SECRET_ID : errorIn(fields, all, chance) }
}

const ID = 'id'
const MANY = 'multiple statements are not supported'
const WILDCARD =
  'wildcard columns (*) are not supported - manually type the collection field names you want the view query to have'
const SECRET_ID = 'the id may show a field that not everybody may see: take it from a collection itself'
function errorIn(fields: readonly FieldDefinition[], all: readonly Definition[], chance: Chance): string | undefined {
  if (!fields.some(({ name }) => name === 'id')) return NO_ID
  const typeOf = (id: string): Definition['type'] | undefined => all.find((other) => other.id === id)?.type
  for (const [place, field] of fields.entries()) {
    const errors = checkField(field, { definition: { type: 'view', fields }, old: undefined, typeOf, chance })
    const [first] = Object.entries(errors ?? {})
    if (first !== undefined)
      return `invalid field "${field.name}" (${place}): ${first[0]}: ${rawMessage(first[1] as FieldError)}`
  }
  return undefined
}

const NO_ID = "missing required id column (you can use `(ROW_NUMBER() OVER()) as id` if you don't have one)"

/** The options of a field, for `completeField`. */
function fieldOf(name: string, reading: Reading, chance: Chance): Readonly<Record<string, unknown>> {
  if (name === ID) return { name, type: 'text', system: true, required: true, primaryKey: true, pattern: '^[a-z0-9]+$' }
  const text = textOf(name, reading)
  const hidden = tells(name, reading) && { hidden: true }
  const type = text === undefined ? JSON_FIELD : typeOfText(text)
  if (type !== undefined) return { ...type, name, ...hidden }
  const copied = columnOf(text!, reading)
  return { ...(copied === undefined ? JSON_FIELD : copyOf(copied, chance)), name, ...hidden }
}

/** Undefined: the words of the query do not tell. */
function textOf(name: string, { columns }: Reading): string | undefined {
  return columns.findLast(({ alias }) => alias === name)?.original
}

interface CopiedColumn {
  readonly definition: Definition
  readonly field: FieldDefinition
}

/** A column of a collection. As PocketBase has it, one without a table is of the first. */
function columnOf(text: string, { tables, all }: Reading): CopiedColumn | undefined {
  const parts = text.split('.')
  const [alias, name] = parts.length === 2 ? (parts as [string, string]) : [tables[0]?.alias, parts[0]!]
  const table = tables.findLast((one) => one.alias === alias && !one.alias.includes('('))
  const definition = table && all.find((one) => isSameName(one.name, table.original))
  const field = definition?.fields.find((one) => isSameName(one.name, name))
  return field && { definition: definition!, field }
}

/** Names of fields that the query itself reads, and that a rule, or nobody, may show. */
function secretsOf({ reads }: DescribedQuery, all: readonly Definition[]): ReadonlySet<string> {
  const views = new Set(all.filter(({ type }) => type === 'view').map(({ name }) => name.toLowerCase()))
  const secrets = new Set<string>()
  for (const [table, column, by] of reads) {
    // What a view reads, its own fields answer for.
    if (views.has(by.toLowerCase())) continue
    const definition = all.find((one) => isSameName(one.name, table))
    const field = definition?.fields.find((one) => isSameName(one.name, column))
    if (field === undefined) continue
    if (isSecret(definition!, field) || field.hidden || field.viewRule !== undefined) secrets.add(column.toLowerCase())
  }
  return secrets
}

/** Whether a column may tell what not everybody may see. Beside other queries in the query, any one that is computed may. */
function tells(name: string, reading: Reading): boolean {
  const { secrets, isNested } = reading
  if (secrets.size === 0 || (!isNested && isShownColumn(name, reading))) return false
  const words = textOf(name, reading)?.toLowerCase().match(/\w+/g) ?? undefined
  return isNested || words === undefined || words.some((word) => secrets.has(word))
}

/** Whether a column is that of a collection as it is. Its own field says who sees it. */
function isShownColumn(name: string, reading: Reading): boolean {
  const text = textOf(name, reading)
  const column = text === undefined ? undefined : columnOf(text, reading)
  return column !== undefined && !reading.secrets.has(column.field.name.toLowerCase())
}

function copyOf({ definition, field }: CopiedColumn, chance: Chance): Readonly<Record<string, unknown>> {
  if (field.name === ID) return { type: 'relation', maxSelect: 1, collectionId: definition.id }
  const { viewRule, updateRule: _, searchable: __, ...shown } = field
  // A rule is about records of its own collection, and a text index is on that.
  return { ...shown, hidden: field.hidden || viewRule !== undefined, id: `_clone_${randomText(chance, 4)}` }
}

/** Where a file field of a view comes from: a collection with records. */
export function fileColumn(query: string, name: string, all: readonly Definition[]): CopiedColumn | undefined {
  const reading = { ...readViewQuery(query), all, secrets: new Set<string>(), isNested: false }
  const text = textOf(name, reading)
  const column = text === undefined ? undefined : columnOf(text, reading)
  if (column === undefined || !holdsFiles(column.field)) return undefined
  const { definition, field } = column
  return definition.type === 'view' ? fileColumn(definition.viewQuery, field.name, all) : column
}

/** `maxSize` is that of PocketBase's JSON; nothing is stored here. */
const JSON_FIELD = { type: 'json', maxSize: 1 }
