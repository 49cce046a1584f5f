/** Goal: the suite of PocketBase's client is right, as the real PocketBase passes it. */
import { EventSource } from 'eventsource'
import { afterAll, describe, test } from 'vitest'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import {
  findPocketBase,
  needPocketBase,
  PASSWORD,
  PocketBaseServer,
  SUPERUSER,
} from '../../../../tools/test/pocketbase.ts'
import { sdkSuite, type SdkServer } from '../../testing/sdk-suite.ts'

globalThis.EventSource ??= EventSource as unknown as typeof globalThis.EventSource

const binary = findPocketBase()
if (binary === undefined) test('PocketBase’s own client on PocketBase', (context) => void needPocketBase(context))
else
  describe('PocketBase’s own client on PocketBase', () => {
    let running: Promise<PocketBaseServer> | undefined
    let mails: Promise<MailServer> | undefined
    afterAll(async () => {
      await (await running)?.[Symbol.asyncDispose]()
      await (await mails)?.[Symbol.asyncDispose]()
    })
    const create = async (): Promise<SdkServer> => {
      const { url } = await (running ??= PocketBaseServer.start(binary))
      const { port: smtpPort, inbox } = await (mails ??= MailServer.start())
      return { url, email: SUPERUSER, password: PASSWORD, smtpPort, inbox }
    }
    sdkSuite({ test, create })
  })
