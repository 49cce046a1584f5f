/** The parameter `fields`: the parts of an answer that a request wants. */
import type { FastifyRequest } from 'fastify'
import { fieldPicker } from '@pannier/backend/internal'
import { queryText } from './actor.ts'

/** The value, or what `fields` names of it. */
export function shown(request: FastifyRequest, value: unknown): unknown {
  const pick = fieldPicker(queryText(request, 'fields'))
  return pick === undefined ? value : pick(value)
}

/** A page whose items show what `fields` names. */
export function shownPage(request: FastifyRequest, page: { readonly items: readonly unknown[] }): unknown {
  return { ...page, items: shown(request, page.items) }
}
