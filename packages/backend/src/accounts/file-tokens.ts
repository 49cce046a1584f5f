/** Tokens for protected files and backups. They stand in URLs, so they are short-lived and good for nothing else. */
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { refuseApiToken } from './api-tokens.ts'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { AccountsHost } from './accounts-host.ts'
import { newToken } from './tokens.ts'

type FileTokensHost = Pick<AccountsHost, 'definitions' | 'settings' | 'principals' | 'environment'>

export class FileTokens {
  readonly #host: FileTokensHost

  constructor(host: FileTokensHost) {
    this.#host = host
  }

  /** @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
  async create({ principal }: Actor): Promise<string> {
    const { account, session } = principal
    refuseApiToken(principal)
    const { definitions, environment } = this.#host
    const definition = account && (definitions.find(account.collection) as AuthDefinition | undefined)
    if (account === undefined || definition === undefined)
      throw new ServiceError('UNAUTHENTICATED', 'The request requires valid record authorization token.')
    const claims = { nowMs: environment.wallClock(), ...(session && { sid: session }) }
    return newToken('file', { definition, record: account.record }, claims)
  }

  /** The principal to whom the token belongs, if it counts at this address. Undefined: nobody's. */
  async principalOf(token: string, address: string | undefined): Promise<Principal | undefined> {
    const { principals, settings } = this.#host
    const principal = token === '' ? undefined : await principals.find('file', token)
    if (principal === undefined) return undefined
    if (principal.isAdmin && !settings.allowsSuperuserAt(address)) return undefined
    return { ...principal, ...(address !== undefined && { address }) }
  }
}
