/** Fields that can be shown, the field that stands for a record, and fields that words find. */
import type { Collection, Field } from '../api/collections.ts'
import { quoted } from '../api/records.ts'
import type { Row } from '../api/records.ts'
import { kindOf } from './kinds.ts'

const TITLE_CHARS_MAX = 160

/** Secrets have no value that could be shown. */
export function shownFields({ fields }: Collection): readonly Field[] {
  return fields.filter((field) => !kindOf(field).isHashed && !(field.system && field.name === 'tokenKey'))
}

/** The field that stands for a record best. */
export function titleField({ fields }: Collection): Field | undefined {
  const texts = fields.filter((field) => kindOf(field).isTitle)
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
  const texts = target.fields.filter((field) => kindOf(field).isTitle && (!field.system || field.name === 'email'))
  const names = new Set(['id', titleField(target)?.name ?? 'id', ...texts.map(({ name }) => name)])
  return [...names].map((name) => `${name} ~ ${quoted(search)}`).join(' || ')
}

/** Signs of which one makes a text a filter. */
const SIGNS = /[=<>~!&|()"'@{}]/

/** A filter as it is; words become one, for the records that have them in any field. */
export function filterOf(text: string, { fields }: Pick<Collection, 'fields'>): string {
  if (text === '' || SIGNS.test(text)) return text
  const names = fields.filter((field) => kindOf(field).isWordy && field.hidden !== true).map(({ name }) => name)
  return names.map((name) => `${name} ~ ${quoted(text)}`).join(' || ')
}
