/** Places from which an account has logged in. A login from another one than before sends a mail, except for the first login. */
import { createHash } from 'node:crypto'
import type { Transaction } from 'pannier'
import type { Actor } from '../access/actor.ts'
import { recordsName } from '../definitions/definition.ts'
import { LOWER, randomText } from '../gateway/chance.ts'
import { toText } from '../fields/cast.ts'
import { dateText } from '../fields/date-text.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { errorText, LOG_LEVELS } from '../gateway/log-entry.ts'
import { alertMail } from './account-mails.ts'
import type { AccountsHost } from './accounts-host.ts'
import type { Holder } from './tokens.ts'

const ID_CHARS = 15
/** How many an account has. Those that were made first go. */
const PLACES_MAX = 5
const AGENT_CHARS_MAX = 200

export class LoginAlerts {
  readonly #host: AccountsHost

  constructor(host: AccountsHost) {
    this.#host = host
  }

  /** Remembers the place of a login. A login does not fail for it. */
  async loggedIn(actor: Actor, holder: Holder): Promise<void> {
    if (!holder.definition.authAlert.enabled) return
    try {
      await this.#remember(actor, holder)
    } catch (error) {
      const data = { error: errorText(error) }
      this.#host.logs.write({ level: LOG_LEVELS.warn, message: 'The place of a login is not remembered.', data })
    }
  }

  async #remember({ principal, request }: Actor, holder: Holder): Promise<void> {
    const { database, definitions, environment, mails } = this.#host
    const { address = '' } = principal
    const agent = shortened(request.headers['user_agent'] ?? '')
    // As PocketBase has it, so that places of an import are known.
    const fingerprint = createHash('md5').update(`${address}${agent}`).digest('hex')
    const time = dateText(environment.wallClock())
    const name = recordsName(definitions.get('_authOrigins'))
    const isNew = await database.transaction(async (transaction: Transaction) => {
      const places = transaction.collection<JsonObject>(name)
      const account = { collectionRef: holder.definition.id, recordRef: String(holder.record['_id']) }
      const known = await places.find(account).sort('$created').toArray()
      const same = known.find((place) => place['fingerprint'] === fingerprint)
      if (same !== undefined) {
        await places.update(same._id, (old) => ({ ...old, updated: time }))
        return false
      }
      for (const { _id } of known.slice(0, Math.max(0, known.length - PLACES_MAX + 1))) await places.delete(_id)
      const _id = randomText(environment, ID_CHARS, LOWER)
      const place = { ...account, fingerprint, created: time, updated: time, _id }
      await places.insert(place)
      return known.length > 0
    })
    if (!isNew || toText(holder.record['email']) === '') return
    await mails.queue(alertMail(this.#host, holder, `${time} - ${address} ${agent}`))
  }
}

function shortened(agent: string): string {
  return agent.length > AGENT_CHARS_MAX ? `${agent.slice(0, AGENT_CHARS_MAX)}...` : agent
}
