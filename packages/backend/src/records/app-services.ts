/** Services for hooks beside records: mails, messages, logs, tokens, passwords. */
import { badArgument } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { AccountsHost } from '../accounts/accounts-host.ts'
import type { RecordAccounts } from '../accounts/record-accounts.ts'
import type { Actor } from '../access/actor.ts'
import { LOG_LEVELS, type LogWriter } from '../gateway/log-entry.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { SYSTEM } from '../gateway/principal.ts'
import { missing } from '../gateway/service-error.ts'
import type { Mails } from '../mails/mails.ts'
import type { HookApp } from '../hooks/hook-app.ts'
import { HookRecord } from '../hooks/hook-record.ts'

/** The parts behind the services. */
export interface AppServicesParts extends Pick<AccountsHost, 'definitions' | 'passwords' | 'principals'> {
  readonly environment: Environment
  readonly logs: LogWriter
  readonly mails: Pick<Mails, 'queue'>
  readonly realtime: { broadcast(topic: string, data: object): void }
  readonly accounts: Pick<RecordAccounts, 'impersonate'>
}

type AppServices = Pick<
  HookApp,
  'sendMail' | 'sendMessage' | 'log' | 'newAuthToken' | 'findAuthRecordByToken' | 'validatePassword'
>

const MAIL_MS_MAX = 2 * 24 * 60 * 60 * 1000
const ACTOR: Actor = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }

export function appServices(parts: () => AppServicesParts): AppServices {
  return {
    sendMail: async ({ to, subject, html, text }) => {
      for (const [name, value] of Object.entries({ to, subject, content: html ?? text }))
        if (typeof value !== 'string' || value === '')
          throw badArgument('app.sendMail()', `${name} must be a text`, value)
      const { mails, environment } = parts()
      const content = { html: html ?? `<pre>${escaped(text!)}</pre>`, text: text ?? '' }
      await mails.queue({ to, subject, ...content, untilMs: environment.wallClock() + MAIL_MS_MAX })
    },
    sendMessage: (topic, data) => parts().realtime.broadcast(topic, data),
    log: (message, data = {}, level = 'info') =>
      parts().logs.write({ level: LOG_LEVELS[level], message, data: JSON.parse(JSON.stringify(data)) as JsonObject }),
    newAuthToken: async (record) =>
      (await parts().accounts.impersonate(ACTOR, record.collection().name, record.id)).token,
    findAuthRecordByToken: async (token) => {
      const { principals, definitions, environment } = parts()
      const account = (await principals.find('auth', token))?.account
      const definition = account && definitions.find(account.collection)
      if (definition === undefined) throw missing('The token is not valid.')
      return HookRecord.of(definition, account!.record as JsonObject, environment)
    },
    validatePassword: async (record, password) => {
      const hash = record.document?.['password']
      return typeof hash === 'string' && hash !== '' && parts().passwords.verify(hash, password)
    },
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
