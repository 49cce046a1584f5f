/** Fields as views show them: icons, which values can be shown, and which one stands for a record. */
import type { Collection, Field, FieldType } from '../api/collections.ts'
import { quoted } from '../api/records.ts'
import type { Row } from '../api/records.ts'
import type { IconName } from '../parts/icon.tsx'

const TITLE_CHARS_MAX = 160

export const FIELD_ICONS: Readonly<Record<FieldType, IconName>> = {
  text: 'text',
  editor: 'edit',
  number: 'number',
  bool: 'toggle',
  email: 'email',
  url: 'url',
  date: 'date',
  autodate: 'date',
  select: 'list',
  file: 'file',
  relation: 'relation',
  json: 'json',
  geoPoint: 'geo',
  password: 'lock',
}

/** Secrets have no value that could be shown. */
export function shownFields({ fields }: Collection): readonly Field[] {
  return fields.filter(({ type, name, system }) => type !== 'password' && !(system && name === 'tokenKey'))
}

/** The field that stands for a record best. */
export function titleField({ fields }: Collection): Field | undefined {
  const texts = fields.filter(({ type }) => type === 'text' || type === 'email')
  return (
    fields.find(({ presentable }) => presentable) ??
    ['title', 'name', 'label', 'email', 'username'].flatMap((name) => texts.filter((field) => field.name === name))[0]
  )
}

/** A line of text for a record. */
export function titleOf(collection: Collection | undefined, row: Row): string {
  const field = collection && titleField(collection)
  // An account without a name has an address at least.
  const values = [field === undefined ? undefined : row[field.name], row['email']]
  const text = values.find((value): value is string => typeof value === 'string' && value !== '')
  return text === undefined ? row.id : text.slice(0, TITLE_CHARS_MAX)
}

/** Finds records by the title, by any other text, by an e-mail address, or by the id. */
export function searchFilter(target: Collection, search: string): string {
  if (search === '') return ''
  // The address of an account is a field of the system, as its secrets are.
  const texts = target.fields.filter(({ type, system }) => type === 'email' || (type === 'text' && !system))
  const names = new Set(['id', titleField(target)?.name ?? 'id', ...texts.map(({ name }) => name)])
  return [...names].map((name) => `${name} ~ ${quoted(search)}`).join(' || ')
}
