/** Tokens for protected files and backups. They stand in URLs, so they are short-lived and good for nothing else. */
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { AccountsHost } from './accounts-host.ts'
import { principalOf } from './logins.ts'
import { holderOf, newToken } from './tokens.ts'

export class FileTokens {
  readonly #host: Pick<AccountsHost, 'definitions' | 'settings' | 'now'>

  constructor(host: Pick<AccountsHost, 'definitions' | 'settings' | 'now'>) {
    this.#host = host
  }

  /** @throws ServiceError UNAUTHENTICATED */
  async create({ principal: { account } }: Actor): Promise<string> {
    const { definitions, now } = this.#host
    const definition = account && (definitions.find(account.collection) as AuthDefinition | undefined)
    if (account === undefined || definition === undefined)
      throw new ServiceError('UNAUTHENTICATED', 'The request requires valid record authorization token.')
    return newToken('file', { definition, record: account.record }, { nowMs: now() })
  }

  /** Whose token it is, if it counts at this address. Undefined: nobody's. */
  async principalOf(token: string, address: string | undefined): Promise<Principal | undefined> {
    const { definitions, settings, now } = this.#host
    const holder = token === '' ? undefined : await holderOf(definitions, 'file', token, now())
    if (holder === undefined) return undefined
    const principal = principalOf(holder)
    if (principal.isAdmin && !settings.allowsSuperuserAt(address)) return undefined
    return { ...principal, ...(address !== undefined && { address }) }
  }
}
