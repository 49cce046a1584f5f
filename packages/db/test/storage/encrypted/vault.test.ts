import { expect, test } from 'vitest'
import { cryptoPlatform } from '../../../src/database/encryption/node-platform.ts'
import { KIND_PAGE } from '../../../src/storage/encrypted/envelope.ts'
import { Vault } from '../../../src/storage/encrypted/vault.ts'
import { deviceKey } from './fixture.ts'

test('what was read before many changes of the keyring opens, also with a key that has gone since', async () => {
  const vault = new Vault(cryptoPlatform(), { key: deviceKey })
  await vault.adopt(await vault.create())
  const place = { kind: KIND_PAGE, number: 7 }
  const content = new Uint8Array([1, 2, 3])
  const read = (await vault.seal(place, content)).slice()
  const state = { generation: 1, sequence: 1 }
  const key = await vault.newKey(1, 1)
  await vault.adopt(await vault.changed({ ...state, keys: [...vault.keyring.keys, key] }))
  await vault.adopt(await vault.changed({ ...state, keys: [key] }))
  for (let later = 0; later < 3; later++) await vault.adopt(await vault.changed(state))
  expect(vault.keyring.keys).toHaveLength(1)
  expect(vault.isCurrent(read)).toBe(false)
  expect(await vault.open(place, read)).toEqual(content)
})
