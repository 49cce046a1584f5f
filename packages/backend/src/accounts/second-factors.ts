/** Logins that need two methods. The first one makes a record of `_mfas`, whose id the second one brings. */
import type { Collection } from 'pannier'
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { LOWER, randomText } from '../gateway/chance.ts'
import { dateText, timeOfDateText } from '../fields/date-text.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import type { AccountsHost } from './accounts-host.ts'
import { isRecordId } from './forms.ts'
import { ageMs } from '../gateway/seen-clock.ts'

const ID_CHARS = 15

export class SecondFactors {
  readonly #host: AccountsHost

  constructor(host: AccountsHost) {
    this.#host = host
  }

  /**
   * Undefined if the login is complete. Otherwise the id that a login by another method has to bring. `mfaId`: the one that this
   * login brings.
   *
   * @throws ServiceError INVALID
   */
  async need(
    actor: Actor,
    definition: AuthDefinition,
    record: JsonObject,
    method: string,
    mfaId: string,
  ): Promise<string | undefined> {
    const { enabled, rule } = definition.mfa
    if (!enabled || (rule !== '' && !(await this.#host.admits(actor, definition, rule, record)))) return undefined
    const login = { collectionRef: definition.id, recordRef: String(record['_id']), method }
    if (mfaId === '') return this.#begin(login)
    const begun = isRecordId(mfaId) ? await this.#mfas.get(mfaId) : undefined
    if (begun === undefined || this.#isOver(begun, definition)) {
      if (begun !== undefined) await this.#mfas.delete(begun._id)
      throw invalid('Invalid or expired MFA session.')
    }
    if (begun['recordRef'] !== login.recordRef || begun['collectionRef'] !== login.collectionRef)
      throw invalid('Invalid MFA session.')
    if (begun['method'] === method) throw invalid('A different authentication method is required.')
    await this.#end(mfaId)
    return undefined
  }

  async deleteExpired(): Promise<void> {
    for await (const mfa of this.#mfas.find({})) {
      const definition = this.#host.definitions.find(String(mfa['collectionRef']))
      if (definition?.type !== 'auth' || this.#isOver(mfa, definition)) await this.#mfas.delete(mfa._id)
    }
  }

  get #mfas(): Collection<JsonObject> {
    const { definitions } = this.#host
    return definitions.records(definitions.get('_mfas'))
  }

  async #begin(login: JsonObject): Promise<string> {
    const id = randomText(this.#host.environment, ID_CHARS, LOWER)
    const created = dateText(this.#host.environment.wallClock())
    await this.#mfas.insert({ ...login, created, updated: created, _id: id })
    return id
  }

  /** Another login may have ended it meanwhile. @throws ServiceError INVALID */
  async #end(id: string): Promise<void> {
    if ((await this.#mfas.delete(id)) === undefined) throw invalid('Invalid or expired MFA session.')
  }

  #isOver({ created }: JsonObject, { mfa }: AuthDefinition): boolean {
    return !(ageMs(this.#host.environment.wallClock(), timeOfDateText(String(created))) < mfa.duration * 1000)
  }
}
