/** The list of fields of a definition: ids that stay, one field of each id, and the fields that every collection has. */
import type { FieldDefinition } from '../fields/field-definition.ts'
import { isJsonObject } from '../gateway/documents.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { Definition } from './definition.ts'
import { ACCOUNT_FIELDS, checksum, ID_FIELD, type SystemField, withIdPattern } from './scaffolds.ts'

/** Reads a list of fields. @throws ServiceError INVALID */
export function completeFields(input: unknown): readonly FieldDefinition[] {
  if (input === null) return []
  if (!Array.isArray(input)) throw malformed()
  let fields: readonly FieldDefinition[] = []
  for (const [index, item] of input.entries()) {
    const hasId = isJsonObject(item) && typeof item['id'] === 'string' && item['id'] !== ''
    fields = withField(fields, completeField(item, index), hasId)
  }
  return fields
}

/** Adds a field. One with its id takes its place; so does one of its name, if the new field came without id. */
export function withField(
  fields: readonly FieldDefinition[],
  field: FieldDefinition,
  hasId: boolean,
): readonly FieldDefinition[] {
  const place = fields.findIndex(({ id, name }) => (hasId ? id === field.id : field.name !== '' && name === field.name))
  if (place >= 0) return fields.with(place, hasId ? field : { ...field, id: fields[place]!.id })
  return [...fields, hasId ? field : { ...field, id: freeId(fields, field) }]
}

function freeId(fields: readonly FieldDefinition[], { type, name }: FieldDefinition): string {
  const base = type + checksum(name)
  const taken = new Set(fields.map(({ id }) => id))
  let id = base
  for (let next = 2; taken.has(id); next++) id = base + String(next)
  return id
}

/** With the fields that each collection of the type has, as they must be. */
export function withSystemFields({ type, fields }: Pick<Definition, 'type' | 'fields'>): readonly FieldDefinition[] {
  const id = systemFieldOf(fields, ID_FIELD)
  let list: readonly FieldDefinition[] = fields.map((field) => (field.id === id.field.id ? id.field : field))
  if (id.isNew) list = fields.reduce((all, field) => withField(all, field, true), withField([], id.field, false))
  for (const system of type === 'auth' ? ACCOUNT_FIELDS : []) {
    const { field, isNew } = systemFieldOf(list, system)
    list = isNew ? withField(list, field, false) : list.map((other) => (other.id === field.id ? field : other))
  }
  return list
}

function systemFieldOf(
  fields: readonly FieldDefinition[],
  { defaults, always }: SystemField,
): { readonly field: FieldDefinition; readonly isNew: boolean } {
  const found = fields.find(({ name, type }) => name === defaults.name && type === defaults.type)
  const field = withIdPattern({ ...(found ?? completeField(defaults, 0)), ...always } as FieldDefinition)
  return { field, isNew: found === undefined }
}

export function malformed(): ServiceError {
  return new ServiceError('INVALID', 'Failed to load the submitted data due to invalid formatting.')
}

const TEXT = { autogeneratePattern: '', max: 0, min: 0, pattern: '', primaryKey: false }
const DOMAINS = { exceptDomains: null, onlyDomains: null }
const DEFAULTS: Readonly<Record<string, object>> = {
  text: TEXT,
  editor: { convertURLs: false, maxSize: 0 },
  number: { max: null, min: null, onlyInt: false },
  bool: {},
  email: DOMAINS,
  url: DOMAINS,
  date: { max: '', min: '' },
  autodate: { onCreate: false, onUpdate: false },
  select: { maxSelect: 0, values: [] },
  file: { maxSelect: 0, maxSize: 0, mimeTypes: null, protected: false, thumbs: null },
  relation: { cascadeDelete: false, collectionId: '', maxSelect: 0, minSelect: 0 },
  json: { maxSize: 0 },
  geoPoint: {},
  password: { cost: 0, max: 0, min: 0, pattern: '' },
}

function completeField(input: unknown, _index: number): FieldDefinition {
  const type = isJsonObject(input) ? input['type'] : undefined
  if (typeof type !== 'string' || DEFAULTS[type] === undefined) throw malformed()
  const common = { id: '', name: '', hidden: false, presentable: false, system: false }
  const others = type === 'autodate' ? {} : { help: '', required: false }
  return { ...common, ...others, ...DEFAULTS[type], ...(input as FieldDefinition) }
}
