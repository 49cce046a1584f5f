/** The views that pouchdb-find reads where it plans by itself: indexes of design documents of the language "query". */
import type { JsonObject, ViewDefinition } from 'pannier'
import type { FindIndex } from './find-indexes.ts'
import { toCouchDocument } from 'pannier/internal'
import { matchesSelector, parseField } from 'pouchdb-selector-core'
import { CODE_UNIT_ORDER } from '../code-unit-order.ts'
import { keyOf } from './query-options.ts'

export interface MangoMap {
  readonly fields: Readonly<Record<string, unknown>>
  readonly partial_filter_selector?: JsonObject
}

export function isMangoMap(map: unknown): map is MangoMap {
  if (typeof map !== 'object' || map === null || !('fields' in map)) return false
  return typeof map.fields === 'object' && map.fields !== null
}

export function findIndexOf({ fields, partial_filter_selector: filter }: MangoMap): FindIndex {
  return { fields: Object.keys(fields), filter }
}

/** A field at the top that a document lacks is null. A document that lacks a deeper one has no row. */
export function mangoView({
  fields,
  partial_filter_selector: filter,
}: MangoMap): ViewDefinition<JsonObject, unknown, unknown, undefined> {
  const paths = Object.keys(fields).map(parseField)
  const isDeep = paths.some((path) => path.length > 1)
  return {
    map: (document, emit) => {
      if (filter !== undefined && !matchesSelector(toCouchDocument(document), filter)) return
      const values = paths.map((path) => valueAt(document, path))
      if (isDeep && values.includes(undefined)) return
      emit(values.length === 1 ? keyOf(values[0]) : values.map(keyOf), null)
    },
    version: JSON.stringify([fields, filter]),
    collation: CODE_UNIT_ORDER,
  }
}

function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document
  for (const name of path) {
    if (value === undefined || value === null) return undefined
    value = (value as JsonObject)[name]
  }
  return value
}
