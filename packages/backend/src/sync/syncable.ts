/** Whether an account may sync a collection at all. */
import { ruleFor } from '../access/access.ts'
import type { Definition } from '../definitions/definition.ts'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'

/** @throws ServiceError FORBIDDEN: superusers only, or a superuser; INVALID: it can't be synced */
export function assertSyncable(principal: Principal, definition: Definition): void {
  const { name } = definition
  if (principal.isAdmin)
    throw new ServiceError('FORBIDDEN', "Superusers see everything. Replicate with CouchDB's protocol instead.")
  if (ruleFor(principal, definition, 'list') === null)
    throw new ServiceError('FORBIDDEN', 'Only superusers can perform this action.')
  if (definition.type === 'view') throw new ServiceError('INVALID', `"${name}" is a view. Its rows can't be synced.`)
  const ruled = definition.fields.find(({ viewRule }) => viewRule !== undefined)
  if (ruled !== undefined)
    throw new ServiceError('INVALID', `The field "${ruled.name}" of "${name}" has a view rule. It can't be synced.`)
  // A replica would keep addresses of those whom its account may not manage any more.
  if (definition.type === 'auth' && definition.manageRule !== null && definition.manageRule !== '')
    throw new ServiceError('INVALID', `"${name}" has a manage rule, which shows addresses. It can't be synced.`)
}
