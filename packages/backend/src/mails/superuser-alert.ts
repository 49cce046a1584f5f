/** Mails to all superusers about something that has failed while nobody looked. */
import type { Environment } from 'pannier/types'
import type { Definitions } from '../definitions/definitions.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import type { Settings } from '../settings/settings.ts'
import { alertMail } from './mail-content.ts'
import type { Mails } from './mails.ts'

export interface AlertParts {
  readonly definitions: Definitions
  readonly settings: Settings
  readonly mails: Mails
  readonly environment: Environment
}

/** The greatest age of an alert. Older ones are in the log only. */
const ALERT_MS_MAX = 86_400_000

/** Resolves when the mails are stored. */
export async function alertSuperusers(
  { definitions, settings, mails, environment }: AlertParts,
  subject: string,
  details: string,
): Promise<void> {
  const superusers = definitions.records(definitions.get(SUPERUSERS)).find({})
  for await (const { email } of superusers)
    await mails.queue({
      ...alertMail({ to: String(email), appName: settings.values.meta.appName, subject, details }),
      untilMs: environment.wallClock() + ALERT_MS_MAX,
    })
}
