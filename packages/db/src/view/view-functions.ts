/** Definitions of views, checked. It is all that has to be there before a view is used. */
import { checkOptions, type OptionNames } from '../base/options.ts'
import type { ViewFunctions } from './view-definition.ts'

const VIEW_NAME_CHARS_MAX = 200

const VIEW_PARTS: OptionNames<ViewFunctions> = {
  map: true,
  mapMany: true,
  reduce: true,
  version: true,
  collation: true,
}
const BUILT_IN: readonly unknown[] = ['_sum', '_count', '_stats', '_approx_count_distinct']

/** Checks arguments of the public API: throws a TypeError for what is no view. `name` undefined: an ad-hoc one. */
export function checkViewFunctions(functions: ViewFunctions, name: string | undefined): void {
  if (name !== undefined && (typeof name !== 'string' || name === '' || name.length > VIEW_NAME_CHARS_MAX))
    throw new TypeError(`the name of a view is a string of 1 to ${VIEW_NAME_CHARS_MAX} characters`)
  checkOptions('a view', functions, VIEW_PARTS)
  const { map, mapMany, reduce, version } = functions as { readonly [name in keyof ViewFunctions]?: unknown }
  if (typeof map !== 'function') throw new TypeError('a view has a function map(document, emit)')
  if (mapMany !== undefined && (typeof mapMany !== 'function' || version === undefined))
    throw new TypeError('mapMany is a function, and goes with a version')
  if (reduce !== undefined && typeof reduce !== 'function' && !BUILT_IN.includes(reduce))
    throw new TypeError(`reduce is a function or one of ${BUILT_IN.join(', ')}`)
  if (version === undefined && [map, reduce].some((one) => String(one).includes('[native code]')))
    throw new TypeError('a function without a source, as bind makes them, takes a version')
  if (version !== undefined && typeof version !== 'string' && typeof version !== 'number')
    throw new TypeError('version is a string or a number')
}
