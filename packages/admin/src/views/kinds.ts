/** The registry of types of fields: one row each, in the order in which they are offered. Nobody else asks a type by its name. */
import type { Field } from '../api/collections.ts'
import type { IconName } from '../parts/icon.tsx'
import { TEXTS } from '../texts.ts'
import type { DEFINITION_TEXTS } from '../texts/definitions.ts'

const { form: texts } = TEXTS.records

export type OptionName = keyof typeof DEFINITION_TEXTS.fields.options
/** `count`: a whole number, where nothing is 0. */
export type OptionKind = 'count' | 'number' | 'text' | 'list' | 'collection'
/** The names of components that show a value in a cell. */
export type CellName =
  | 'plain'
  | 'html'
  | 'number'
  | 'truth'
  | 'link'
  | 'time'
  | 'items'
  | 'files'
  | 'records'
  | 'code'
  | 'point'
/** The names of components that change a value: the controls of a form. */
export type ControlName =
  | 'area'
  | 'html'
  | 'line'
  | 'decimal'
  | 'address'
  | 'webAddress'
  | 'secret'
  | 'switch'
  | 'time'
  | 'choice'
  | 'files'
  | 'records'
  | 'code'
  | 'point'

interface FieldKind {
  readonly label: string
  readonly icon: IconName
  /** The width of its column, in rem. */
  readonly width: number
  readonly cell: CellName
  readonly control: ControlName
  /** Whether the field holds names of files or ids of records. */
  readonly holds?: 'files' | 'records'
  /** The stored value is a hash, and is shown to nobody. */
  readonly isHashed?: true
  /** Whether the field is automatic: the server sets it. */
  readonly isAutomatic?: true
  /** Whether the field may be the title of its record, and finds it. An account may log in with it. */
  readonly isTitle?: true
  /** Words of the filter are looked for in it. */
  readonly isWordy?: true
  /** Whether the field is unsorted: the server has no order for it. */
  readonly isUnsorted?: true
  /** The server finds records by its value. */
  readonly isIndexable?: true
  /** Whether the field takes what a provider of accounts says. */
  readonly isMappable?: true
  /** Whether the field makes no sense without options of its own. */
  readonly needsOptions?: true
  /** Whether values are long: a cell shows the beginning. */
  readonly isLong?: true
  /** How a file of CSV has it. `list`: as JSON, or as one text. */
  readonly inCsv: 'text' | 'number' | 'truth' | 'json' | 'list'
  /** For an example of a filter: the least comes first. */
  readonly exampleRank?: number
  readonly options?: Readonly<Partial<Record<OptionName, OptionKind>>>
  readonly flags?: readonly OptionName[]
  /** Options of a new field that the server has no other value for. */
  readonly defaults?: Partial<Field>
  /** A value for examples. */
  sample(field: Field): unknown
  /** Whether a value is empty: its cell shows nothing. */
  isEmpty(value: unknown): boolean
  /** The draft of a value: what a control has. */
  draft(value: unknown): unknown
  /** The sent form of a draft. @throws DraftError */
  sent(field: Field, value: unknown): unknown
}

/** An error of a draft that can't be sent. */
export class DraftError extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

const ONE_TEXT = {
  width: 12,
  cell: 'plain',
  control: 'line',
  isEmpty: (value: unknown) => value === undefined || value === null || value === '',
  draft: (value: unknown): unknown => (typeof value === 'string' ? value : ''),
  sent: (_: Field, value: unknown): unknown => value,
  inCsv: 'text',
} as const

/** One text or a list. */
const LIST = {
  ...ONE_TEXT,
  isEmpty: (value: unknown) => textsOf(value).length === 0,
  draft: textsOf,
  sent: (field: Field, value: unknown) => (isMany(field) ? value : ((value as readonly unknown[])[0] ?? '')),
  inCsv: 'list',
} as const

const DATE = {
  ...ONE_TEXT,
  label: 'Date and time',
  icon: 'date',
  cell: 'time',
  control: 'time',
  isIndexable: true,
  options: { min: 'text', max: 'text' },
  sample: () => '2026-01-31 12:00:00.000Z',
} as const

const DOMAIN = {
  ...ONE_TEXT,
  width: 14,
  isWordy: true,
  isIndexable: true,
  isMappable: true,
  options: { onlyDomains: 'list', exceptDomains: 'list' },
  flags: ['searchable'],
} as const

const KINDS: Readonly<Record<string, FieldKind>> = {
  text: {
    ...ONE_TEXT,
    label: 'Text',
    icon: 'text',
    control: 'area',
    isTitle: true,
    isWordy: true,
    isIndexable: true,
    isMappable: true,
    exampleRank: 4,
    options: { min: 'count', max: 'count', pattern: 'text', autogeneratePattern: 'text' },
    flags: ['searchable'],
    sample: ({ name }) => name,
  },
  editor: {
    ...ONE_TEXT,
    label: 'Formatted text',
    icon: 'edit',
    width: 17.5,
    cell: 'html',
    control: 'html',
    isWordy: true,
    isLong: true,
    options: { maxSize: 'count' },
    flags: ['convertURLs', 'searchable'],
    sample: () => '<p>Text</p>',
  },
  number: {
    ...ONE_TEXT,
    label: 'Number',
    icon: 'number',
    width: 7.5,
    cell: 'number',
    control: 'decimal',
    isWordy: true,
    isIndexable: true,
    exampleRank: 3,
    options: { min: 'number', max: 'number' },
    flags: ['onlyInt'],
    sample: ({ min }) => (typeof min === 'number' ? min : 1),
    isEmpty: (value) => value === undefined,
    draft: (value) => (typeof value === 'number' ? String(value) : ''),
    sent: ({ name }, value) => (value === '' ? 0 : numberOf(name, value as string)),
    inCsv: 'number',
  },
  bool: {
    ...ONE_TEXT,
    label: 'Yes or no',
    icon: 'toggle',
    width: 7,
    cell: 'truth',
    control: 'switch',
    isIndexable: true,
    exampleRank: 2,
    sample: () => true,
    isEmpty: (value) => value === undefined,
    draft: (value) => value === true,
    inCsv: 'truth',
  },
  email: {
    ...DOMAIN,
    label: 'E-mail address',
    icon: 'email',
    control: 'address',
    isTitle: true,
    sample: () => 'ann@example.com',
  },
  url: {
    ...DOMAIN,
    label: 'URL',
    icon: 'url',
    cell: 'link',
    control: 'webAddress',
    sample: () => 'https://example.com',
  },
  date: DATE,
  autodate: {
    ...DATE,
    label: 'Date, set by itself',
    isAutomatic: true,
    options: {},
    flags: ['onCreate', 'onUpdate'],
    defaults: { onCreate: true },
  },
  select: {
    ...LIST,
    label: 'Selection',
    icon: 'list',
    cell: 'items',
    control: 'choice',
    isWordy: true,
    isIndexable: true,
    needsOptions: true,
    exampleRank: 1,
    options: { values: 'list', maxSelect: 'count' },
    flags: ['searchable'],
    defaults: { values: [], maxSelect: 1 },
    sample: ({ values = [], maxSelect = 1 }) => (maxSelect > 1 ? values.slice(0, 2) : (values[0] ?? '')),
  },
  file: {
    ...LIST,
    label: 'File',
    icon: 'file',
    width: 9.5,
    cell: 'files',
    control: 'files',
    holds: 'files',
    isMappable: true,
    isUnsorted: true,
    options: { maxSelect: 'count', maxSize: 'count', mimeTypes: 'list', thumbs: 'list' },
    flags: ['protected'],
    defaults: { maxSelect: 1 },
    sample: ({ name }) => name,
    sent: (field, value) => (isMany(field) ? value : ((value as readonly unknown[])[0] ?? null)),
  },
  relation: {
    ...LIST,
    label: 'Relation',
    icon: 'relation',
    width: 12.5,
    cell: 'records',
    control: 'records',
    holds: 'records',
    isIndexable: true,
    needsOptions: true,
    options: { collectionId: 'collection', minSelect: 'count', maxSelect: 'count' },
    flags: ['cascadeDelete'],
    defaults: { maxSelect: 1, collectionId: '' },
    sample: (field) => (isMany(field) ? ['RELATED_ID'] : 'RELATED_ID'),
  },
  json: {
    ...ONE_TEXT,
    label: 'JSON',
    icon: 'json',
    width: 14,
    cell: 'code',
    control: 'code',
    isUnsorted: true,
    options: { maxSize: 'count' },
    sample: () => ({ any: 'value' }),
    isEmpty: (value) => ONE_TEXT.isEmpty(value) || (Array.isArray(value) && value.length === 0),
    draft: (value) => (value === undefined || value === null ? '' : JSON.stringify(value, undefined, 2)),
    sent: ({ name }, value) => (value === '' ? null : parsedJson(name, value as string)),
    inCsv: 'json',
  },
  geoPoint: {
    ...ONE_TEXT,
    label: 'Place on earth',
    icon: 'geo',
    cell: 'point',
    control: 'point',
    isUnsorted: true,
    sample: () => ({ lon: 10.75, lat: 59.91 }),
    draft(value) {
      const { lon = 0, lat = 0 } = (value ?? {}) as { readonly lon?: number; readonly lat?: number }
      return { lon: String(lon), lat: String(lat) }
    },
    sent({ name }, value) {
      const { lon, lat } = value as { readonly lon: string; readonly lat: string }
      return { lon: numberOf(name, lon), lat: numberOf(name, lat) }
    },
    inCsv: 'json',
  },
  password: {
    ...ONE_TEXT,
    label: 'Password',
    icon: 'lock',
    control: 'secret',
    isHashed: true,
    options: { min: 'count', max: 'count', pattern: 'text', cost: 'count' },
    sample: () => 'a long password',
    draft: () => '',
  },
}

export const FIELD_TYPES: readonly string[] = Object.keys(KINDS)

/** A server may have types that this page does not know: they are taken for texts. */
export function kindOf({ type }: Pick<Field, 'type'>): FieldKind {
  return Object.hasOwn(KINDS, type) ? KINDS[type]! : KINDS['text']!
}

export function isMany(field: Field): boolean {
  return (field.maxSelect ?? 1) > 1
}

/** One text or several, as a list. */
export function textsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]
}

/** @throws DraftError */
function numberOf(name: string, text: string): number {
  const number = Number(text.trim())
  if (text.trim() === '' || !Number.isFinite(number)) throw new DraftError(name, texts.noNumber(text))
  return number
}

/** @throws DraftError */
function parsedJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new DraftError(name, texts.noJson((error as Error).message))
  }
}
