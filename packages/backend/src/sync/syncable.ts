/** Whether an account may sync a collection at all. */
import { ruleFor } from '../access/access.ts'
import type { Definition } from '../definitions/definition.ts'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'

/** @throws ServiceError FORBIDDEN: superusers only, or a superuser; INVALID: it can't be synced */
export function assertSyncable(principal: Principal, definition: Definition): void {
  if (principal.isAdmin)
    throw new ServiceError('FORBIDDEN', "Superusers see everything. Replicate with CouchDB's protocol instead.")
  if (ruleFor(principal, definition, 'list') === null)
    throw new ServiceError('FORBIDDEN', 'Only superusers can perform this action.')
  const problem = syncProblem(definition)
  if (problem !== undefined) throw new ServiceError('INVALID', problem)
}

/** Why nobody can sync a collection, whatever its list rule is. */
export function syncProblem(definition: Definition): string | undefined {
  const { name } = definition
  if (definition.type === 'view') return `"${name}" is a view. Its rows can't be synced.`
  const ruled = definition.fields.find(({ viewRule }) => viewRule !== undefined)
  if (ruled !== undefined) return `The field "${ruled.name}" of "${name}" has a view rule. It can't be synced.`
  // A replica would keep addresses of those whom its account may not manage any more.
  return definition.type === 'auth' && definition.manageRule !== null && definition.manageRule !== ''
    ? `"${name}" has a manage rule, which shows addresses. It can't be synced.`
    : undefined
}
