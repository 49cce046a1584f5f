/** Completions of a rule or a filter. */
import type { Collection, Field } from '../api/collections.ts'
import type { Completions } from '../parts/code-editor/contract.ts'
import { findCollection } from '../state/collections.ts'
import { TEXTS } from '../texts.ts'
import { kindOf } from './kinds.ts'

type Options = Completions['options']

const { rules: texts } = TEXTS
const MACROS = [
  '@now',
  '@yesterday',
  '@tomorrow',
  '@todayStart',
  '@todayEnd',
  '@monthStart',
  '@monthEnd',
  '@yearStart',
  '@yearEnd',
  '@second',
  '@minute',
  '@hour',
  '@day',
  '@weekday',
  '@month',
  '@year',
]
const REQUEST = ['auth', 'body', 'query', 'headers', 'method', 'context']
const MODIFIERS = ['isset', 'changed', 'length', 'each', 'lower']

export function completeRule(
  text: string,
  position: number,
  collection: Collection,
  list: readonly Collection[],
): Completions | undefined {
  const before = text.slice(0, position)
  const inText = selectedValues(before, collection)
  if (inText !== undefined) return inText
  // Inside of another text in quotes nothing is known.
  if (/^(?:[^"']|"[^"]*"|'[^']*')*(?:"[^"]*|'[^']*)$/.test(before)) return undefined
  const [path = ''] = /[@\w.:]*$/.exec(before) ?? []
  const from = position - (/[\w@]*$/.exec(path)?.[0].length ?? 0)
  if (path.includes(':')) return { from, options: MODIFIERS.map((label) => ({ label })), isOffered: true }
  const parts = path.split('.')
  if (parts.length === 1) return { from, options: firstNames(collection, list) }
  return { from, options: namesBehind(parts.slice(0, -1), collection, list), isOffered: true }
}

/** `status = "` offers what the field may be. */
function selectedValues(before: string, collection: Collection): Completions | undefined {
  const [, name, word = ''] = /(\w+)(?::\w+)?\s*\??[!=~]+\s*["']([^"']*)$/.exec(before) ?? []
  const field = collection.fields.find((one) => one.name === name)
  if (field?.values === undefined || field.values === null) return undefined
  return { from: before.length - word.length, options: field.values.map((label) => ({ label })), isOffered: true }
}

function firstNames(collection: Collection, list: readonly Collection[]): Options {
  const back = list.flatMap((other) =>
    other.fields
      .filter((field) => kindOf(field).holds === 'records' && field.collectionId === collection.id)
      .map(({ name }) => ({ label: `${other.name}_via_${name}`, detail: texts.back })),
  )
  return [
    ...fieldNames(collection),
    ...back,
    { label: 'search', apply: 'search("', detail: texts.search },
    { label: 'geoDistance', apply: 'geoDistance(', detail: texts.distance },
    ...REQUEST.map((part) => ({ label: `@request.${part}` })),
    { label: '@collection', detail: texts.collection },
    ...MACROS.map((label) => ({ label, detail: texts.macro })),
    ...['true', 'false', 'null'].map((label) => ({ label })),
  ]
}

function namesBehind(parts: readonly string[], collection: Collection, list: readonly Collection[]): Options {
  const [first, second = '', ...rest] = parts
  if (first === '@request') {
    if (parts.length === 1) return REQUEST.map((label) => ({ label }))
    if (second === 'body') return fieldNames(collection)
    const accounts = second === 'auth' ? list.filter(({ type }) => type === 'auth') : []
    return accounts.flatMap((account) => behind(rest, account, list))
  }
  if (first !== '@collection') return behind(parts, collection, list)
  if (parts.length === 1) return list.map(({ name }) => ({ label: name }))
  const target = findCollection(list, second)
  return target === undefined ? [] : behind(rest, target, list)
}

/** The options behind a path, which follows relations. */
function behind(parts: readonly string[], collection: Collection, list: readonly Collection[]): Options {
  let current: Collection | undefined = collection
  for (const part of parts) {
    const field: Field | undefined = current?.fields.find(({ name }) => name === part)
    current =
      field === undefined
        ? findCollection(list, /^(\w+)_via_\w+$/.exec(part)?.[1] ?? '')
        : findCollection(list, field.collectionId ?? '')
  }
  return current === undefined ? [] : fieldNames(current)
}

function fieldNames({ fields }: Collection): Options {
  return fields
    .filter((field) => !kindOf(field).isHashed)
    .map((field) => ({ label: field.name, detail: kindOf(field).label }))
}
