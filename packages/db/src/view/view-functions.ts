/** Checks definitions of views. The only code of views that is loaded before a view is used. */
import { checkOptions, type OptionNames, badArgument } from '../base/options.ts'
import type { ViewFunctions } from './view-definition.ts'

const VIEW_NAME_CHARS_MAX = 200

const VIEW_PARTS: OptionNames<ViewFunctions> = {
  map: true,
  mapMany: true,
  reduce: true,
  version: true,
  collation: true,
  remembers: true,
}
const BUILT_IN: readonly unknown[] = ['_sum', '_count', '_stats', '_approx_count_distinct']

/** Checks arguments of the public API: throws a TypeError for what is no view. `name` undefined: an ad-hoc one. */
export function checkViewFunctions(functions: ViewFunctions, name: string | undefined): void {
  const call = name === undefined ? 'mapReduce()' : 'view()'
  if (name !== undefined && (typeof name !== 'string' || name === '' || name.length > VIEW_NAME_CHARS_MAX))
    throw badArgument(call, `name must be a string of 1 to ${VIEW_NAME_CHARS_MAX} characters`, name)
  checkOptions(call, functions, VIEW_PARTS)
  const { map, mapMany, reduce, version } = functions as { readonly [name in keyof ViewFunctions]?: unknown }
  if (typeof map !== 'function') throw badArgument(call, 'map must be a function (document, emit)', map)
  if (mapMany !== undefined && typeof mapMany !== 'function')
    throw badArgument(call, 'mapMany must be a function', mapMany)
  if (mapMany !== undefined && version === undefined)
    throw badArgument(call, 'version must be given with mapMany', version)
  if (reduce !== undefined && typeof reduce !== 'function' && !BUILT_IN.includes(reduce))
    throw badArgument(call, `reduce must be a function or one of ${BUILT_IN.join(', ')}`, reduce)
  if (version !== undefined && typeof version !== 'string' && typeof version !== 'number')
    throw badArgument(call, 'version must be a string or a number', version)
}
