/** Goal: a misspelt option of the server is named, with the one that is meant, before anything is made. */
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takersOfOptions } from '../../../tools/checks/options-of-api.ts'
import { migrationApp } from '@pannier/backend/internal'
import { createServer, SYSTEM } from '../src/index.ts'
import { startServer } from './test-server.ts'

const WRONG: readonly (readonly [meant: string, options: object])[] = [
  ['superuser', { superusr: 'root@example.org:password' }],
  ['corsOrigins', { http: { corsOrigin: ['https://app.example.org'] } }],
  ['requestBytesMax', { limits: { requestByteMax: 5 } }],
  ['sessionMsMax', { auth: { sessionsMsMax: 5 } }],
  ['nameMax', { auth: { loginLimits: { namesMax: 5 } } }],
  ['waitingMax', { auth: { hashLimits: { waitngMax: 5 } } }],
  ['settingsKey', { app: { settingKey: 'x' } }],
  ['watch', { app: { hooks: { dir: 'x', wach: true } } }],
  ['fauxton', { couch: { fauxtn: 'x' } }],
  ['runningMax', { couch: { replicator: { runingMax: 5 } } }],
  ['automigrate', { app: { migrations: { dir: 'x', automigrat: true } } }],
  ['indexFallback', { app: { public: { dir: 'x', indexFalback: true } } }],
]

test('what takes options is in this file', () => {
  const api = readFileSync(join(import.meta.dirname, '../api/index.d.ts'), 'utf8')
  expect([...takersOfOptions(api)].sort()).toEqual([
    'GuardedCollection.bulkGet',
    'GuardedCollection.getAttachment',
    'GuardedCollection.put',
    'MigrationApp.createCollection',
    'MigrationApp.importCollections',
    'MigrationApp.updateCollection',
    'PannierServer.listen',
    'createServer',
  ])
})

test('createServer', async () => {
  const dir = join(tmpdir(), 'pannier-options-nobody-makes-it')
  for (const [meant, options] of WRONG)
    await expect(createServer({ dir, ...options }), meant).rejects.toThrow(`did you mean '${meant}'?`)
  expect(existsSync(dir)).toBe(false)
})

test('listen', async () => {
  const running = await startServer()
  try {
    await expect(running.server.listen({ prot: 80 } as never)).rejects.toThrow("did you mean 'port'?")
  } finally {
    await running.close()
  }
})

test('the collections of a migration', async () => {
  const running = await startServer()
  try {
    const app = migrationApp(running.server.backend)
    const calls: readonly (readonly [meant: string, call: () => Promise<unknown>])[] = [
      ['put', () => app.updateCollection('users', {}, { ptu: [] } as never)],
      ['listRule', () => app.createCollection({ name: 'a', listrule: '' } as never)],
      ['indexes', () => app.importCollections([{ name: 'a', indxes: [] } as never])],
    ]
    for (const [meant, call] of calls) await expect(call(), meant).rejects.toThrow(`did you mean '${meant}'?`)
  } finally {
    await running.close()
  }
})

test('a guarded collection', async () => {
  const running = await startServer()
  try {
    const users = await running.server.gateway.collection(SYSTEM, '_users')
    const calls: readonly (readonly [meant: string, call: () => Promise<unknown>])[] = [
      ['latest', () => users.bulkGet([{ id: 'a' }], { latst: true } as never)],
      ['rev', () => users.getAttachment('a', 'b', { rv: '1-a' } as never)],
      ['newEdits', async () => users.put([{ _id: 'a' }], { newEdit: false } as never)],
    ]
    for (const [meant, call] of calls) await expect(call(), meant).rejects.toThrow(`did you mean '${meant}'?`)
  } finally {
    await running.close()
  }
})
