/** Goal: whoever can open an encrypted database can restore its sealed snapshot and move it, and what they hand in stays as it was. */
import { beforeAll, expect, test } from 'vitest'
import { open, type Credential } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { deviceKey, newDeviceKey } from '../storage/encrypted/fixture.ts'

let snapshot: Buffer
let recoveryKey: string
let otherRecoveryKey: string

beforeAll(async () => {
  const db = await open('x', { storage: memory(), encryption: { key: deviceKey } })
  recoveryKey = await db.encryption!.makeRecoveryKey()
  await db.collection('notes').insert({ _id: 'a', text: 'kept' })
  snapshot = Buffer.from(await new Response(db.snapshot()).arrayBuffer())
  otherRecoveryKey = await db.encryption!.makeRecoveryKey()
  await db.close()
})

async function textIn(db: Awaited<ReturnType<typeof open>>): Promise<unknown> {
  return (await db.collection<{ text: string }>('notes').get('a'))?.text
}

test('with the recovery key, when the password is lost: the copy opens with it, and lets others in', async () => {
  const storage = memory()
  const encryption = { recoveryKey }
  const db = await open('copy', { storage, from: snapshot, encryption })
  expect(await textIn(db)).toBe('kept')
  expect((await db.encryption!.slots()).map(({ kind }) => kind)).toEqual(['recovery'])
  const key = await newDeviceKey()
  await db.encryption!.addKey(key)
  await db.close()
  for (const credential of [encryption, { key }] satisfies Credential[]) {
    const again = await open('copy', { storage, encryption: credential })
    expect(await textIn(again)).toBe('kept')
    await again.close()
  }
  await expect(open('copy', { storage, encryption: { key: deviceKey } })).rejects.toMatchObject({
    code: 'PANNIER_KEY_WRONG',
  })
})

test('a recovery key that is of no use makes nothing', async () => {
  const storage = memory()
  // Made after the snapshot.
  const encryption = { recoveryKey: otherRecoveryKey }
  await expect(open('copy', { storage, from: snapshot, encryption })).rejects.toMatchObject({
    code: 'PANNIER_KEY_WRONG',
  })
  await expect(open('copy', { storage, encryption })).rejects.toMatchObject({ code: 'PANNIER_NOT_FOUND' })
  const plain = await open('copy', { storage })
  await plain.close()
})

test('a database is moved with its recovery key', async () => {
  const [source, target] = [memory(), memory()]
  const made = await open('copy', { storage: source, from: snapshot, encryption: { recoveryKey } })
  await made.moveTo(target, { encryption: { recoveryKey } })
  const moved = await open('copy', { storage: target, encryption: { recoveryKey } })
  expect(await textIn(moved)).toBe('kept')
  await moved.close()
})

test('bytes that are handed in stay as they were, and can be handed in again', async () => {
  const kept = Buffer.from(snapshot)
  const sources = [snapshot, new Uint8Array(snapshot), new Uint8Array(snapshot).buffer]
  for (const from of [...sources, ...sources]) {
    const db = await open('copy', { storage: memory(), from, encryption: { key: deviceKey } })
    expect(await textIn(db)).toBe('kept')
    await db.close()
  }
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < snapshot.length; at += 700) yield snapshot.subarray(at, at + 700)
  }
  const db = await open('copy', { storage: memory(), from: pieces(), encryption: { key: deviceKey } })
  expect(await textIn(db)).toBe('kept')
  await db.close()
  expect(snapshot.equals(kept)).toBe(true)
})
