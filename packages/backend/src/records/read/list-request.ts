/** The request for a list, read and limited as PocketBase does. */
import type { Actor } from '../../access/actor.ts'
import { pageSize } from '../../definitions/list-definitions.ts'
import { forbidden, invalid, ServiceError } from '../../gateway/service-error.ts'
import type { ListOptions } from '../record-types.ts'

export const RANDOM = '@random'
/** The order of creation. */
export const CREATION = '@rowid'

const SORTS_MAX = 8
const SORT_LENGTH_MAX = 255

/** An order of a list. */
export interface SortKey {
  /** A path, `@random` or `@rowid`. */
  readonly by: string
  readonly descending: boolean
}

export interface ListRequest {
  readonly page: number
  readonly perPage: number
  readonly sort: readonly SortKey[]
  /** The cursor that the page follows; the empty text before the first page. Undefined: the page is asked for by its number. */
  readonly after: string | undefined
}

/** @throws ServiceError INVALID, FORBIDDEN */
export function readListRequest(actor: Actor, options: ListOptions): ListRequest {
  const { sort = '', filter = '', after } = options
  assertOpenToActor(actor, filter, sort)
  // Reading them may throw.
  const { page = 1, perPage } = options
  if (after !== undefined && page > 1)
    throw invalid(`A page is asked for by "after" or by its number, got both: page ${page}. Leave out "page".`)
  return {
    after,
    page: page <= 0 ? 1 : page,
    perPage: pageSize(perPage),
    sort: sort === '' ? [] : sortKeys(sort),
  }
}

/** Names that only superusers may use. @throws ServiceError FORBIDDEN */
export function assertOpenToActor({ principal }: Actor, ...texts: readonly string[]): void {
  if (principal.isAdmin) return
  for (const name of ['@collection.', '@request.'])
    if (texts.some((text) => text.includes(name))) throw forbidden(`Only superusers can filter by ${name}`)
}

function sortKeys(sort: string): SortKey[] {
  const keys = sort.split(',').map((part): SortKey => {
    const text = part.trim()
    return { by: text.replace(/^[-+]/, ''), descending: text.startsWith('-') }
  })
  if (keys.length > SORTS_MAX || keys.some(({ by }) => Buffer.byteLength(by) > SORT_LENGTH_MAX))
    throw new ServiceError('INVALID', '')
  return keys
}

/** Whether a sort key is a path of fields. */
export function isPath(by: string): boolean {
  return by !== RANDOM && by !== CREATION
}
