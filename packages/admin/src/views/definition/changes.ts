/** Differences of two definitions, in words: for people who are about to save. */
import type { Collection, Field } from '../../api/collections.ts'
import { isObject } from '../../api/request.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { kindOf } from '../kinds.ts'
import { indexParts } from './index-statement.ts'

export interface Change {
  readonly kind: 'add' | 'change' | 'remove'
  readonly text: string
  /** The values from before and after the change. */
  readonly from?: string
  readonly to?: string
}

const { changes: texts } = TEXTS
/** Parts that are compared elsewhere, or that the server sets. */
const APART: ReadonlySet<string> = new Set([
  'id',
  'name',
  'type',
  'system',
  'fields',
  'indexes',
  'created',
  'updated',
  'collectionId',
  'collectionName',
])
const LENGTH_MAX = 240

export function changesBetween(before: Collection | undefined, after: Collection): readonly Change[] {
  if (before === undefined) return [{ kind: 'add', text: texts.made(after.name) }, ...fieldChanges([], after.fields)]
  const renamed: Change[] =
    before.name === after.name ? [] : [{ kind: 'change', text: texts.name, from: before.name, to: after.name }]
  return [
    ...renamed,
    // Those of a view follow from its query.
    ...(after.type === 'view' ? [] : fieldChanges(before.fields, after.fields)),
    ...indexChanges(before.indexes, after.indexes),
    ...optionChanges(before, after),
  ]
}

function fieldChanges(before: readonly Field[], after: readonly Field[]): readonly Change[] {
  const byId = new Map(before.map((field) => [field.id, field]))
  const kept = new Set(after.map(({ id }) => id))
  const removed = before
    .filter(({ id }) => !kept.has(id))
    .map(({ name }): Change => ({ kind: 'remove', text: texts.fieldRemoved(name) }))
  const others = after.flatMap((field) => {
    const old = byId.get(field.id)
    return old === undefined ? [added(field)] : changedField(old, field)
  })
  const order = (fields: readonly Field[]): string =>
    fields
      .filter(({ id }) => kept.has(id) && byId.has(id))
      .map(({ id }) => id)
      .join(' ')
  const moved: Change[] = order(before) === order(after) ? [] : [{ kind: 'change', text: texts.order }]
  return [...removed, ...others, ...moved]
}

function added(field: Field): Change {
  return { kind: 'add', text: texts.fieldAdded(field.name, kindOf(field).label) }
}

function changedField(old: Field, field: Field): readonly Change[] {
  const names = new Set([...Object.keys(old), ...Object.keys(field)]) as Set<keyof Field>
  return [...names].flatMap((option): Change[] => {
    const [from, to] = [shown(old[option], option), shown(field[option], option)]
    if (from === to) return []
    const text = option === 'name' ? texts.fieldRenamed : texts.fieldOption(field.name, option)
    return [{ kind: 'change', text, from, to }]
  })
}

function indexChanges(before: readonly string[], after: readonly string[]): readonly Change[] {
  const nameOf = (statement: string): string => indexParts(statement)?.name ?? statement
  return [
    ...before
      .filter((one) => !after.includes(one))
      .map((one): Change => ({ kind: 'remove', text: texts.indexRemoved(nameOf(one)) })),
    ...after
      .filter((one) => !before.includes(one))
      .map((one): Change => ({ kind: 'add', text: texts.indexAdded(nameOf(one)), to: one })),
  ]
}

/** Rules and options, by the path that leads to what is different. */
function optionChanges(before: object, after: object, path: readonly string[] = []): readonly Change[] {
  const [old, now] = [before, after] as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]
  return Object.keys({ ...old, ...now }).flatMap((name): readonly Change[] => {
    if (path.length === 0 && APART.has(name)) return []
    const [from, to] = [old[name], now[name]]
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    if (isObject(from) && isObject(to)) return optionChanges(from, to, [...path, name])
    return [{ kind: 'change', text: [...path, name].join('.'), from: shown(from, name), to: shown(to, name) }]
  })
}

/** Rules say who may: null and the empty text are no values there. */
function shown(value: unknown, name: string): string {
  if (/rule$/i.test(name) && value !== undefined && (value === null || value === ''))
    return value === null ? texts.superusers : texts.everybody
  if (value === undefined || value === '') return texts.nothing
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)} …` : text
}
