import { afterAll, describe, test } from 'vitest'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'
import {
  findPocketBase,
  NOT_ASKED,
  PASSWORD as PEER_PASSWORD,
  PocketBaseServer,
  SUPERUSER,
} from '../../../../tools/test/pocketbase.ts'
import { sdkSuite } from '../../testing/sdk-suite.ts'
import { EMAIL, PASSWORD, startRest, type RestServer } from './rest-server.ts'

describe('PocketBase’s own client on our server', () => {
  let running: Promise<RestServer> | undefined
  afterAll(async () => (await running)?.close())
  const create = async (): Promise<{ url: string; email: string; password: string }> => {
    const { url } = await (running ??= startRest())
    return { url, email: EMAIL, password: PASSWORD }
  }
  sdkSuite({ test, create })
})

const binary = EVERYWHERE || process.env['POCKETBASE'] !== undefined ? findPocketBase() : undefined
if (binary === undefined) console.warn(NOT_ASKED)
else
  describe('PocketBase’s own client on PocketBase, which shows that the suite is right', () => {
    let running: Promise<PocketBaseServer> | undefined
    afterAll(async () => (await running)?.[Symbol.asyncDispose]())
    const create = async (): Promise<{ url: string; email: string; password: string }> => {
      const { url } = await (running ??= PocketBaseServer.start(binary))
      return { url, email: SUPERUSER, password: PEER_PASSWORD }
    }
    sdkSuite({ test, create })
  })
