/** Goal: a database that is not open is deleted by its name, also without its key. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, expect } from 'vitest'
import { destroy } from '../../src/database/lifecycle/destroy.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'

test('destroys a file of the default storage', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pannier-destroy-'))
  try {
    const name = join(folder, 'shop')
    const db = await open(name)
    await db.collection('people').insert({ name: 'Ann' })
    await db.close()
    await destroy(name)
    expect(readdirSync(folder)).toStrictEqual([])
    await destroy(name)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('needs no key', async () => {
  const storage = memory()
  const db = await open('shop', { storage, encryption: { password: 'secret' } })
  await db.collection('people').insert({ name: 'Ann' })
  await db.close()
  await expect(open('shop', { storage })).rejects.toMatchObject({ code: 'PANNIER_ENCRYPTED' })
  await destroy('shop', { storage })
  const anew = await open('shop', { storage })
  expect(await anew.collections()).toStrictEqual([])
  await anew.close()
})

test('a name is a string that is not empty', () => {
  expect(() => destroy('')).toThrow(TypeError)
})
