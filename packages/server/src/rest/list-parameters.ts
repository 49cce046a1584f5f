/** Parameters of lists. */
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '@pannier/backend'
import type { ListOptions } from '@pannier/backend'
import { queryText } from './actor.ts'

const TRUE = /^(?:1|t|T|TRUE|true|True)$/
const FALSE = /^(?:0|f|F|FALSE|false|False)?$/

/** Wrong numbers throw a ServiceError INVALID when they are read: a locked collection is refused before. */
export function listOptions(request: FastifyRequest): ListOptions {
  return {
    get page() {
      return integerOf(request, 'page')
    },
    get perPage() {
      return integerOf(request, 'perPage')
    },
    get skipTotal() {
      return flagOf(request, 'skipTotal')
    },
    sort: queryText(request, 'sort'),
    filter: queryText(request, 'filter'),
    expand: queryText(request, 'expand'),
    fields: queryText(request, 'fields'),
    ...given(request, ['after', 'group', 'aggregate']),
  }
}

/** The parameters with these names that are not empty. */
function given(request: FastifyRequest, names: readonly string[]): Readonly<Record<string, string>> {
  const found = names.filter((name) => Object.hasOwn(request.query as object, name))
  return Object.fromEntries(found.map((name) => [name, queryText(request, name)]))
}

/** 0 if it is not there. @throws ServiceError INVALID */
export function integerOf(request: FastifyRequest, name: string): number {
  const text = queryText(request, name)
  if (text === '') return 0
  if (!/^[+-]?\d{1,15}$/.test(text)) throw new ServiceError('INVALID', '')
  return Number(text)
}

/** @throws ServiceError INVALID */
export function flagOf(request: FastifyRequest, name: string): boolean {
  const text = queryText(request, name)
  if (TRUE.test(text)) return true
  if (FALSE.test(text)) return false
  throw new ServiceError('INVALID', '')
}
