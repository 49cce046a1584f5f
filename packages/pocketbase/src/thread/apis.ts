/** `$apis` and `$mails`. */
import type { App } from './app.ts'
import type { HookEvent } from './event.ts'
import { call } from './link.ts'
import type { Record as PocketRecord } from './record.ts'

/** A middleware or handler of the server, which the server knows by its name. */
export class Native {
  readonly name: string
  readonly parameters: readonly unknown[]

  constructor(name: string, parameters: readonly unknown[]) {
    this.name = name
    this.parameters = parameters
  }
}

function native(name: string): (...parameters: readonly unknown[]) => Native {
  return (...parameters) => new Native(name, parameters)
}

export const APIS: Readonly<Record<string, unknown>> = {
  static: native('static'),
  requireAuth: native('requireAuth'),
  requireGuestOnly: native('requireGuestOnly'),
  requireSuperuserAuth: native('requireSuperuserAuth'),
  requireSuperuserOrOwnerAuth: native('requireSuperuserOrOwnerAuth'),
  // The server decides by its settings what it logs and compresses.
  skipSuccessActivityLog: native('pass'),
  gzip: native('pass'),
  bodyLimit: native('bodyLimit'),
  recordAuthResponse: (e: HookEvent, record: PocketRecord, method: string, meta: unknown = null): void => {
    void e
    call('event', 'recordAuthResponse', record, method, meta)
  },
  enrichRecord: (e: HookEvent, record: PocketRecord, ...paths: readonly string[]): void => enrich(e, [record], paths),
  enrichRecords: (e: HookEvent, records: readonly PocketRecord[], ...paths: readonly string[]): void =>
    enrich(e, records, paths),
}

/** Records as the caller may see them: the view rule admits what is added, and hooks change what is shown of each. */
function enrich(e: HookEvent, records: readonly PocketRecord[], paths: readonly string[]): void {
  const isAll = e.hasSuperuserAuth()
  const info = isAll ? {} : (e.requestInfo() as { auth?: PocketRecord })
  e.app.expandRecords(
    records,
    paths,
    (one) => isAll || e.app.canAccessRecord(one, info, one.collection().viewRule as string | null),
  )
  const show = (shown: readonly PocketRecord[]): void => {
    for (const record of shown) {
      call('event', 'enrich', record)
      for (const related of Object.values(record.expand())) show([related].flat())
    }
  }
  show(records)
}

function sendAccountMail(kind: string): (app: App, record: PocketRecord) => void {
  return (_app, record) => void call('app', 'sendAccountMail', kind, record)
}

export const MAILS: Readonly<Record<string, unknown>> = {
  sendRecordPasswordReset: sendAccountMail('passwordReset'),
  sendRecordVerification: sendAccountMail('verification'),
}
