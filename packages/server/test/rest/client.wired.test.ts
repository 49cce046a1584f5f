import { EventSource } from 'eventsource'
import { afterAll, describe, test } from 'vitest'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { sdkSuite, type SdkServer } from '../../testing/sdk-suite.ts'
import { EMAIL, PASSWORD, startRest, type RestServer } from './rest-server.ts'

globalThis.EventSource ??= EventSource as unknown as typeof globalThis.EventSource

describe('PocketBase’s own client on our server', () => {
  let running: Promise<RestServer> | undefined
  let mails: Promise<MailServer> | undefined
  afterAll(async () => {
    await (await running)?.close()
    await (await mails)?.[Symbol.asyncDispose]()
  })
  const create = async (): Promise<SdkServer> => {
    const { url } = await (running ??= startRest())
    const { port: smtpPort, inbox } = await (mails ??= MailServer.start())
    return { url, email: EMAIL, password: PASSWORD, smtpPort, inbox }
  }
  sdkSuite({ test, create })
})
