/** Filters of change feeds that are functions of design documents: `ddoc/filter`, and `_view` with `ddoc/view`. */
import { DEFAULT_SECURITY } from '../auth/permissions.ts'
import { invalid, missing } from '@pannier/backend/internal'
import type { FilterSource, JsonObject } from '@pannier/backend/internal'
import type { DesignDocuments } from './design-documents.ts'
import { filterContext } from './filter-request.ts'

export function designFilters(
  designs: DesignDocuments,
  securityOf: (database: string) => Promise<JsonObject | undefined>,
): FilterSource {
  return async (request) => {
    const { database, collection, filter, view } = request
    const [id, name] = splitName(filter === '_view' ? view! : filter)
    const { functions } = await designs.get(collection, id)
    if (filter === '_view') {
      const found = functions.views.get(name)
      if (found === undefined) throw missing(`missing json key: ${name}`)
      return { accepts: (documents) => found.emits(documents), dispose: () => {} }
    }
    const found = functions.filters.get(name)
    if (found === undefined) throw missing(`missing json key: ${name}`)
    const context = filterContext(request, (await securityOf(database)) ?? DEFAULT_SECURITY)
    return { accepts: (documents) => found(documents, context), dispose: () => {} }
  }
}

function splitName(path: string): [id: string, name: string] {
  const parts = path.split('/')
  const [id = '', name = ''] = parts
  if (parts.length !== 2 || id === '' || name === '') throw invalid('A filter is named `designname/functionname`')
  return [id, name]
}
