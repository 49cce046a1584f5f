/** Goal: a new server gets its first superuser over HTTP, from PocketBase's client too, and keeps the secret to itself. */
import { expect, test } from 'vitest'
import { startServer } from '../test-server.ts'
import { failure, ITSELF, sdkClient, tokenFor } from './rest-server.ts'

const [EMAIL, PASSWORD] = ['ann@example.com', '1234567890']

test('the secret makes a superuser, once; no log has it', async () => {
  const server = await startServer()
  const { accounts, logs, logReads } = server.server.backend
  const secret = (await accounts.firstSuperuser.offer())!
  const client = sdkClient(server.url)
  client.authStore.save(secret)
  const input = { email: EMAIL, password: PASSWORD, passwordConfirm: PASSWORD }
  expect((await failure(client.collections.getFullList())).status).toBe(401)
  const wrong = await failure(client.collection('_superusers').create({ ...input, password: 'x' }))
  expect(wrong.response['data']).toMatchObject({ passwordConfirm: { code: 'validation_values_mismatch' } })
  expect(await client.collection('_superusers').create(input)).toMatchObject({ email: EMAIL })
  expect((await failure(client.collection('_superusers').create({ ...input, email: 'b@b.co' }))).status).toBe(403)
  client.authStore.save(await tokenFor(server.url, '_superusers', EMAIL, PASSWORD))
  expect((await client.collections.getFullList()).length).toBeGreaterThan(0)
  await logs.flush()
  const { items } = await logReads.list(ITSELF, { perPage: 100 })
  expect(items.length).toBeGreaterThan(0)
  expect(JSON.stringify(items)).not.toContain(secret)
  await server.close()
})
