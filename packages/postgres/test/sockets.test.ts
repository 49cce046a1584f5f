/** Goal: a socket that throws before it connects is a refusal, and ends no process. Here it throws, as this lane may not connect. */
import { expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'

test('a socket that throws before it connects is a refusal', async () => {
  const storage = postgres('postgres://app@127.0.0.1/app', { waitMsMax: 0 })
  await expect(open('shop', { storage })).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
})
