/** Filters of change feeds that are functions of design documents: `ddoc/filter`, and `_view` with `ddoc/view`. */
import { DEFAULT_SECURITY } from '../auth/permissions.ts'
import { badRequest, notFound } from '../http/http-error.ts'
import type { JsonObject } from '../http/request-body.ts'
import type { FilterSource } from '../http/seams.ts'
import type { DesignDocuments } from './design-documents.ts'
import { filterContext } from './filter-request.ts'

export function designFilters(
  designs: DesignDocuments,
  securityOf: (database: string) => Promise<JsonObject | undefined>,
): FilterSource {
  return async ({ request, database, collection, filter, view }) => {
    const [id, name] = splitName(filter === '_view' ? view! : filter)
    const { functions } = await designs.get(collection, id)
    if (filter === '_view') {
      const found = functions.views.get(name)
      if (found === undefined) throw notFound(`missing json key: ${name}`)
      return { accepts: (documents) => found.emits(documents), dispose: () => {} }
    }
    const found = functions.filters.get(name)
    if (found === undefined) throw notFound(`missing json key: ${name}`)
    const context = filterContext(request, database, (await securityOf(database)) ?? DEFAULT_SECURITY)
    return { accepts: (documents) => found(documents, context), dispose: () => {} }
  }
}

function splitName(path: string): [id: string, name: string] {
  const parts = path.split('/')
  const [id = '', name = ''] = parts
  if (parts.length !== 2 || id === '' || name === '') throw badRequest('A filter is named `designname/functionname`')
  return [id, name]
}
