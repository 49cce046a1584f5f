/** Goal: what docs/internals/security.md says that somebody who changes the files of a database can do unnoticed is that, and no more. */
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isPannierError } from '../../../src/base/errors.ts'
import { open } from '../../../src/index.ts'
import { cryptoPlatform } from '../../../src/database/encryption/node-platform.ts'
import { EncryptedPageStore } from '../../../src/storage/encrypted/encrypted-page-store.ts'
import { Vault } from '../../../src/storage/encrypted/vault.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import { sqlite } from '../../../src/storage/sqlite/sqlite.ts'
import { someCommit, somePage, someRecord } from '../../../testing/conformance/page-store-fixture.ts'
import { seededRandom } from '../../../testing/random.ts'
import { temporaryFiles } from '../../key-value-stores.ts'
import { deviceKey, newDeviceKey } from './fixture.ts'
import { FIRST_SEED, times } from '../../../../../tools/test/seeds.ts'

const SEED = FIRST_SEED
const DAMAGES = times(60)
const newPath = temporaryFiles()

async function numbersIn(path: string, key: CryptoKey = deviceKey): Promise<number[] | string> {
  try {
    const db = await open(path, { storage: sqlite(), encryption: { key } })
    try {
      const found = await db.collection<{ number: number }>('rows').find({}).sort('number').toArray()
      return found.map(({ number }) => number)
    } finally {
      await db.close()
    }
  } catch (error) {
    if (isPannierError(error)) return error.code
    throw error
  }
}

async function fill(path: string, count: number, copyAt = Infinity): Promise<string> {
  const db = await open(path, { storage: sqlite(), encryption: { key: deviceKey } })
  const copy = newPath()
  for (let number = 0; number < count; number++) {
    await db.collection('rows').insert({ _id: `r${number}`, number, text: 'x'.repeat(500) })
    if (number % 10 === 9) await db.flush()
    if (number !== copyAt) continue
    copyFileSync(path, copy)
    copyFileSync(`${path}-wal`, `${copy}-wal`)
  }
  await db.close()
  return copy
}

test('damage to the write-ahead log is an error, or a state that there was as a whole', async () => {
  const random = seededRandom(SEED)
  const copy = await fill(newPath(), 50, 45)
  const wal = readFileSync(`${copy}-wal`)
  const outcomes = new Set<string>()
  for (let count = 0; count < DAMAGES; count++) {
    const path = newPath()
    copyFileSync(copy, path)
    const damaged = Buffer.from(wal)
    damaged[random.below(wal.length)]! ^= 1 << random.below(8)
    const length = random.chance(0.3) ? random.below(wal.length) : wal.length
    writeFileSync(`${path}-wal`, damaged.subarray(0, length))
    const found = await numbersIn(path)
    outcomes.add(typeof found === 'string' ? found : 'a state')
    if (typeof found !== 'string') expect(found).toEqual(found.map((_, at) => at))
  }
  expect([...outcomes].filter((outcome) => outcome !== 'PANNIER_CORRUPT')).toEqual(['a state'])
})

test('a file of 0 bytes is a new database', async () => {
  const path = newPath()
  await fill(path, 5)
  truncateSync(path, 0)
  expect(await numbersIn(path, await newDeviceKey())).toEqual([])
})

test('databases of one key can be exchanged as a whole, and not in part', async () => {
  const [one, other] = [newPath(), newPath()]
  await fill(one, 3)
  await fill(other, 7)
  copyFileSync(other, one)
  expect(await numbersIn(one)).toEqual([0, 1, 2, 3, 4, 5, 6])
})

test('chance is drawn when it is used, and none in advance', async () => {
  const drawn: number[] = []
  const platform = cryptoPlatform()
  const random = (count: number): Uint8Array => {
    drawn.push(count)
    return platform.random(count)
  }
  const vault = new Vault({ ...platform, random }, { key: deviceKey })
  const store = new EncryptedPageStore(await memory().open('x'), vault)
  await store.read()
  drawn.length = 0
  await store.append(someRecord(1), 'relaxed')
  // Nonce and token.
  expect(drawn.splice(0)).toEqual([28])
  await store.commit(someCommit(1, 1, { pages: [somePage(1), somePage(2)] }))
  // The epoch, and nonces of the meta record and of each page.
  expect(drawn.toSorted((a, b) => a - b)).toEqual([8, 12, 12, 12])
})
