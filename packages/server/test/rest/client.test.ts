import { EventSource } from 'eventsource'
import { afterAll, describe, test } from 'vitest'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'
import {
  findPocketBase,
  NOT_ASKED,
  PASSWORD as PEER_PASSWORD,
  PocketBaseServer,
  SUPERUSER,
} from '../../../../tools/test/pocketbase.ts'
import { sdkSuite, type SdkServer } from '../../testing/sdk-suite.ts'
import { EMAIL, PASSWORD, startRest, type RestServer } from './rest-server.ts'

globalThis.EventSource ??= EventSource as unknown as typeof globalThis.EventSource

let mails: Promise<MailServer> | undefined
afterAll(async () => (await mails)?.[Symbol.asyncDispose]())

async function mailPlace(): Promise<Pick<SdkServer, 'smtpPort' | 'inbox'>> {
  const { port: smtpPort, inbox } = await (mails ??= MailServer.start())
  return { smtpPort, inbox }
}

describe('PocketBase’s own client on our server', () => {
  let running: Promise<RestServer> | undefined
  afterAll(async () => (await running)?.close())
  const create = async (): Promise<SdkServer> => {
    const { url } = await (running ??= startRest())
    return { url, email: EMAIL, password: PASSWORD, ...(await mailPlace()) }
  }
  sdkSuite({ test, create })
})

const binary = EVERYWHERE || process.env['POCKETBASE'] !== undefined ? findPocketBase() : undefined
if (binary === undefined) console.warn(NOT_ASKED)
else
  describe('PocketBase’s own client on PocketBase, which shows that the suite is right', () => {
    let running: Promise<PocketBaseServer> | undefined
    afterAll(async () => (await running)?.[Symbol.asyncDispose]())
    const create = async (): Promise<SdkServer> => {
      const { url } = await (running ??= PocketBaseServer.start(binary))
      return { url, email: SUPERUSER, password: PEER_PASSWORD, ...(await mailPlace()) }
    }
    sdkSuite({ test, create })
  })
