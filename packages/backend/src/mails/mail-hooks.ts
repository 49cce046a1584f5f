/** Hooks around mails. */
import type { KnownDefinitions } from '../access/rule-records.ts'
import type { HookApp } from '../hooks/hook-app.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { Mail } from './mail-content.ts'
import type { MailsHost } from './mails.ts'

interface MailHooksHost {
  readonly hooks: Hooks
  readonly app: HookApp
  readonly definitions: KnownDefinitions
}

/** The hooks of the account's mail are around those of all mails. The mail of an account that has gone has only these. */
export function mailHooks({ hooks, app, definitions }: MailHooksHost): MailsHost['around'] {
  return async ({ account, to, subject, html, text }, send) => {
    const message: { -readonly [Key in keyof Mail]: Mail[Key] } = { to, subject, html, text }
    const sent = (): Promise<void> => hooks.trigger('onMailerSend', { app, message }, [], () => send(message))
    const definition = account && definitions.find(account.collection)
    if (definition === undefined) return sent()
    const name = `onMailerRecord${account!.kind}Send` as const
    const tags = [definition.id, definition.name]
    if (!hooks.has([name], tags)) return sent()
    const record = await app.findRecordById(definition.id, account!.id).catch(() => undefined)
    if (record === undefined) return sent()
    // An earlier version has stored mails without it.
    const { meta = {} } = account as { readonly meta?: Readonly<Record<string, string>> }
    return hooks.trigger(name, { app, record, message, meta }, tags, sent)
  }
}
