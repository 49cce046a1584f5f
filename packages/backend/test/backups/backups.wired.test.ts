/** Goal: a backup is all data of one moment, and what is no backup changes nothing. */
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { open } from 'pannier'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { GUEST, openBackend, SYSTEM } from '../../src/index.ts'
import type { Actor, Backend } from '../../src/index.ts'
import { Archive } from '../../src/backups/archive.ts'
import { RestoreFolder } from '../../src/internal.ts'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { S3Server } from '../files/s3-server.ts'

const ROOT: Actor = { principal: SYSTEM, request: { context: 'default', method: 'GET', query: {}, headers: {} } }

let dir: string
let environment: VirtualEnvironment
let restarts: number
let server: Opened

interface Opened extends AsyncDisposable {
  readonly backend: Backend
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-backups-'))
  environment = virtualEnvironment({ startMs: Date.UTC(2026, 10, 22, 15, 4, 49) })
  restarts = 0
  server = await start()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

async function start(): Promise<Opened> {
  const restored = new RestoreFolder(dir)
  if (await restored.isReady()) await restored.complete(async () => {})
  const database = await open(join(dir, 'pannier.sqlite'), { environment })
  const logs = await open(join(dir, 'logs.sqlite'), { environment })
  const host = { dir, restart: () => void restarts++ }
  const backend = await openBackend(database, { logs, backups: host })
  const dispose = async (): Promise<void> => {
    await backend.close()
    await logs.close()
    await database.close()
  }
  return { backend, [Symbol.asyncDispose]: dispose }
}

async function restart(): Promise<void> {
  await server[Symbol.asyncDispose]()
  server = await start()
}

async function addNote(text: string): Promise<void> {
  const { definitions, records } = server.backend
  if (definitions.find('notes') === undefined)
    await definitions.create(SYSTEM, { name: 'notes', type: 'base', fields: [{ name: 'text', type: 'text' }] })
  await records.create(ROOT, 'notes', { text })
}

async function notes(): Promise<unknown[]> {
  const { items } = await server.backend.records.list(ROOT, 'notes', { sort: 'text', perPage: 1000 })
  return items.map(({ text }) => text)
}

async function keys(): Promise<string[]> {
  return (await server.backend.backups.list(SYSTEM)).map(({ key }) => key)
}

test('a restored backup has the data of its moment, and nothing that was written later', async () => {
  await addNote('one')
  await server.backend.backups.create(SYSTEM, 'first.zip')
  await addNote('two')
  await server.backend.settings.update(SYSTEM, { meta: { appName: 'Later' } })
  await server.backend.backups.restore(SYSTEM, 'first.zip')
  expect([restarts, await notes()]).toEqual([1, ['one', 'two']])
  await restart()
  expect(await notes()).toEqual(['one'])
  expect(server.backend.settings.values.meta.appName).toBe('Acme')
  expect((await readdir(dir)).filter((name) => name.includes('restore'))).toEqual([])
})

test('a backup that is made while others write has whole transactions only', async () => {
  await addNote('0')
  let isDone = false
  const begun = Promise.withResolvers<void>()
  const writing = (async () => {
    for (let count = 0; !isDone; count++) {
      const operations = ['a', 'b'].map((part) => ({
        action: 'create' as const,
        collection: 'notes',
        request: ROOT.request,
        show: {},
        input: { text: `${count}${part}` },
      }))
      await server.backend.records.batch(SYSTEM, operations, { workMsMax: 60_000 })
      begun.resolve()
      // The clock stands still, so the database takes no turn for long enough to give one away.
      await environment.yield()
    }
  })()
  await Promise.race([begun.promise, writing])
  for (const name of ['a.zip', 'b.zip', 'c.zip']) await server.backend.backups.create(SYSTEM, name)
  isDone = true
  await writing
  await server.backend.backups.restore(SYSTEM, 'b.zip')
  await restart()
  const count = async (filter: string): Promise<number> => {
    const { totalItems } = await server.backend.records.list(ROOT, 'notes', { filter, perPage: 1 })
    return totalItems
  }
  expect(await count("text ~ '%a'")).toBeGreaterThan(0)
  expect(await count("text ~ '%a'")).toBe(await count("text ~ '%b'"))
})

test('names are made of the name of the application and the time', async () => {
  await server.backend.settings.update(SYSTEM, { meta: { appName: 'My App' } })
  await server.backend.backups.create(SYSTEM, '')
  expect(await keys()).toEqual(['pb_backup_my_app_20261122150449.zip'])
})

test('scheduled backups are made by the settings, and only the newest are kept', async () => {
  const { settings, schedules } = server.backend
  const ids = (): string[] => schedules.list(SYSTEM).map(({ id }) => id)
  expect(ids()).not.toContain('__pbAutoBackup__')
  await settings.update(SYSTEM, { backups: { cron: '0 0 * * *', cronMaxKeep: 2 } })
  await server.backend.backups.create(SYSTEM, 'own.zip')
  for (let day = 0; day < 4; day++) {
    environment.jump(1000)
    schedules.run(SYSTEM, '__pbAutoBackup__')
    await environment.idle()
    expect(schedules.isRunning('__pbAutoBackup__')).toBe(false)
  }
  expect(await keys()).toEqual([
    '@auto_pb_backup_acme_20261122150452.zip',
    '@auto_pb_backup_acme_20261122150453.zip',
    'own.zip',
  ])
  await settings.update(SYSTEM, { backups: { cron: '' } })
  expect(ids()).not.toContain('__pbAutoBackup__')
})

test('superusers get a mail when a scheduled backup can not be made', async () => {
  await using mailServer = await MailServer.start()
  const { settings, schedules, records } = server.backend
  await settings.update(SYSTEM, { ...mailServer.settings, backups: { cron: '0 0 * * *', cronMaxKeep: 2 } })
  for (const email of ['a@example.com', 'b@example.com'])
    await records.create(ROOT, '_superusers', { email, password: 'a password', passwordConfirm: 'a password' })
  await rm(join(dir, 'backups'), { recursive: true, force: true })
  await writeFile(join(dir, 'backups'), 'a file, no folder')
  schedules.run(SYSTEM, '__pbAutoBackup__')
  const mail = await mailServer.received(2)
  expect(mailServer.mails.flatMap(({ recipients }) => recipients).toSorted()).toEqual([
    'a@example.com',
    'b@example.com',
  ])
  expect(mail.parsed.subject).toBe('Acme: A scheduled backup could not be made')
  expect(mail.parsed.text).toContain('Raw error')
  await environment.idle()
  expect(schedules.isRunning('__pbAutoBackup__')).toBe(false)
  await rm(join(dir, 'backups'))
})

test('one backup is made at a time, and the one in use stays', async () => {
  const { backups } = server.backend
  const making = backups.create(SYSTEM, 'slow.zip')
  expect(backups.canBackUp).toBe(false)
  await expect(backups.create(SYSTEM, 'other.zip')).rejects.toThrow('Try again later')
  await expect(backups.restore(SYSTEM, 'slow.zip')).rejects.toThrow('Try again later')
  await expect(backups.delete(SYSTEM, 'slow.zip')).rejects.toThrow('currently being used')
  await making
  expect(backups.canBackUp).toBe(true)
})

test('nobody but superusers does anything with backups', async () => {
  const { backups } = server.backend
  for (const asked of [
    () => backups.list(GUEST),
    () => backups.create(GUEST, ''),
    () => backups.upload(GUEST, undefined),
    () => backups.download('', undefined, 'a.zip'),
    () => backups.delete(GUEST, 'a.zip'),
    () => backups.restore(GUEST, 'a.zip'),
  ])
    await expect(asked()).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

/** Writes an archive with entries of these contents. */
async function archive(name: string, entries: Readonly<Record<string, Buffer | { link: string }>>): Promise<void> {
  const zip = new ZipFile()
  for (const [path, content] of Object.entries(entries))
    if (Buffer.isBuffer(content)) zip.addBuffer(content, path)
    else zip.addBuffer(Buffer.from(content.link), path, { mode: 0o120777 })
  zip.end()
  await mkdir(join(dir, 'backups'), { recursive: true })
  await pipeline(zip.outputStream as Readable, createWriteStream(join(dir, 'backups', name)))
}

async function replaced(name: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  const path = join(dir, 'backups', name)
  await writeFile(path, change(await readFile(path)))
}

test.each([
  ['an empty zip', () => archive('bad.zip', {}), 'it has no data.db'],
  ['a zip of something else', () => archive('bad.zip', { 'a.txt': Buffer.from('x') }), '"a.txt"'],
  [
    'PocketBase’s own',
    () => archive('bad.zip', { 'data.db': Buffer.from('SQLite format 3\0') }),
    'not a Pannier snapshot',
  ],
  ['an entry of zeros', () => archive('bad.zip', { 'data.db': Buffer.alloc(1 << 26) }), 'not a Pannier snapshot'],
  ['a link', () => archive('bad.zip', { 'data.db': { link: '/etc/passwd' } }), 'not a Pannier snapshot'],
] as const)('%s is refused, and nothing changes', async (_, make, reason) => {
  await addNote('one')
  await make()
  const before = await readdir(dir)
  await expect(server.backend.backups.restore(SYSTEM, 'bad.zip')).rejects.toThrow(reason)
  await expect(server.backend.backups.restore(SYSTEM, 'bad.zip')).rejects.toThrow('Nothing was changed.')
  expect([await readdir(dir), restarts]).toEqual([before, 0])
  await restart()
  expect(await notes()).toEqual(['one'])
})

test('names that lead out of the folder are refused', async () => {
  await archive('bad.zip', { 'xx/xx/evil.txt': Buffer.from('x') })
  await replaced('bad.zip', (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('xx/xx/', '../../'), 'latin1'))
  await expect(server.backend.backups.restore(SYSTEM, 'bad.zip')).rejects.toThrow('invalid relative path')
})

test('an entry that holds more than it says is refused', async () => {
  await server.backend.backups.create(SYSTEM, 'bad.zip')
  const central = Buffer.from('504b0102', 'hex')
  await replaced('bad.zip', (bytes) => {
    for (let at = bytes.indexOf(central); at >= 0; at = bytes.indexOf(central, at + 4))
      if (bytes.subarray(at + 46, at + 53).toString() === 'data.db') {
        // In the extra field of zip64 behind the name, if the size is there.
        const is64 = bytes.readUInt32LE(at + 24) === 0xffffffff
        if (is64) bytes.writeBigUInt64LE(100n, at + 46 + 7 + 4)
        else bytes.writeUInt32LE(100, at + 24)
      }
    return bytes
  })
  await expect(server.backend.backups.restore(SYSTEM, 'bad.zip')).rejects.toThrow('Nothing was changed.')
})

test('no byte of a backup can be changed unseen', async () => {
  await addNote('one')
  await server.backend.backups.create(SYSTEM, 'whole.zip')
  const whole = await readFile(join(dir, 'backups', 'whole.zip'))
  const other = await mkdtemp(join(tmpdir(), 'pannier-other-'))
  let refused = 0
  for (let step = 0; step < 40; step++) {
    const bytes = Buffer.from(whole)
    const at = Math.floor((bytes.length * step) / 40)
    bytes[at] = bytes[at]! ^ 0x5a
    const path = join(other, 'changed.zip')
    await writeFile(path, bytes)
    try {
      await new RestoreFolder(other).prepare(path, {})
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID' })
      refused++
      continue
    }
    // What stands in the archive beside the data: times and the like.
    const database = await open(join(other, 'restore.ready', 'pannier.sqlite'))
    expect((await database.check()).ok).toBe(true)
    await database.close()
  }
  expect(refused).toBeGreaterThan(25)
  await rm(other, { recursive: true })
})

test('damage is seen too when the archive waits for a slow storage', async () => {
  await server.backend.backups.create(SYSTEM, 'bad.zip')
  const path = join(dir, 'backups', 'bad.zip')
  await replaced('bad.zip', (bytes) => {
    const name = bytes.indexOf('data.db')
    // Behind the name and the extra field: the first bits of what is compressed say how. 7 says nothing that there is.
    bytes[name + 'data.db'.length + bytes.readUInt16LE(name - 2)] = 7
    return bytes
  })
  const found = await Archive.open(path)
  const bytes = found.read('data.db')
  await environment.idle()
  await expect(bytes.next()).rejects.toThrow('invalid block type')
  found.close()
})

test('half a backup is refused', async () => {
  await server.backend.backups.create(SYSTEM, 'half.zip')
  await replaced('half.zip', (bytes) => bytes.subarray(0, bytes.length / 2))
  await expect(server.backend.backups.restore(SYSTEM, 'half.zip')).rejects.toThrow("can't be restored")
})

test('names of backups stay in their folder, and links are followed nowhere', async () => {
  const { backups } = server.backend
  await mkdir(join(dir, 'backups'), { recursive: true })
  await writeFile(join(dir, 'backups', '.unfinished-x'), 'x')
  await symlink(dir, join(dir, 'backups', 'folder.zip'))
  expect(await keys()).toEqual([])
  for (const key of ['../pannier.sqlite', '..', '.', '', '.unfinished-x', 'a/b', 'a\0b', 'folder.zip']) {
    await expect(backups.delete(SYSTEM, key)).rejects.toMatchObject({ code: 'INVALID' })
    await expect(backups.restore(SYSTEM, key)).rejects.toMatchObject({ code: 'INVALID' })
  }
  const file = (name: string) => ({ name, size: 4, stream: () => new Blob([Buffer.from('504b0304', 'hex')]).stream() })
  for (const name of ['..', '.hidden', 'a\u0001b', 'x'.repeat(201)])
    await expect(backups.upload(SYSTEM, file(name))).rejects.toThrow('Failed to upload backup.')
  await backups.upload(SYSTEM, file('../../escaped.zip'))
  expect(await keys()).toEqual(['escaped.zip'])
})

test('what a killed process has left goes at the next start', async () => {
  await mkdir(join(dir, 'backups'), { recursive: true })
  await writeFile(join(dir, 'backups', '.unfinished-x'), 'x')
  await mkdir(join(dir, 'restore.unfinished-x'))
  await restart()
  expect([
    await readdir(join(dir, 'backups')),
    (await readdir(dir)).filter((name) => name.startsWith('restore')),
  ]).toEqual([[], []])
})

test('a restore that was stopped after any of its steps is completed by the next start', async () => {
  await addNote('one')
  await server.backend.backups.create(SYSTEM, 'first.zip')
  for (const stopped of ['before the files', 'after the first file', 'after both']) {
    await addNote('later')
    await server.backend.backups.restore(SYSTEM, 'first.zip')
    await server[Symbol.asyncDispose]()
    await expect(
      new RestoreFolder(dir)
        .complete(async () => {
          if (stopped === 'before the files') throw new Error('killed')
          await writeFile(join(dir, stopped === 'after the first file' ? 'logs.sqlite-wal' : 'x'), 'x')
          if (stopped === 'after the first file') await rm(join(dir, 'restore.ready', 'logs.sqlite'))
        })
        .then(() => {
          throw new Error('killed')
        }),
    ).rejects.toThrow()
    await rm(join(dir, 'logs.sqlite-wal'), { force: true })
    server = await start()
    expect([stopped, await notes()]).toEqual([stopped, ['one']])
  }
})

test('backups are kept in a bucket, and restored from there', async () => {
  await using bucket = await S3Server.start()
  await addNote('one')
  await server.backend.settings.update(SYSTEM, { backups: { s3: { enabled: true, ...bucket.options } } })
  const { backups } = server.backend
  await backups.create(SYSTEM, 'far.zip')
  expect([await keys(), await readdir(dir)]).toEqual([['far.zip'], expect.not.arrayContaining(['backups'])])
  await addNote('two')
  await backups.restore(SYSTEM, 'far.zip')
  await restart()
  expect(await notes()).toEqual(['one'])
  await server.backend.backups.delete(SYSTEM, 'far.zip')
  expect(await keys()).toEqual([])
  bucket.fault = (_request, response) => {
    response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>No.</Message></Error>')
    return true
  }
  await expect(server.backend.backups.create(SYSTEM, 'no.zip')).rejects.toMatchObject({
    code: 'INVALID',
    message: expect.stringContaining('Raw error') as string,
  })
})

test.each(['in the folder', 'in a bucket'])(
  'a backup %s that is being made when the server ends is not there',
  async (where) => {
    await addNote('one')
    await using bucket = await S3Server.start()
    const { backups, settings } = server.backend
    if (where === 'in a bucket') {
      await settings.update(SYSTEM, { backups: { s3: { enabled: true, ...bucket.options } } })
      bucket.fault = ({ method }) => {
        if (method === 'PUT') backups.end()
        return method === 'PUT'
      }
    } else backups.around = (_event, _name, run) => (backups.end(), run())
    await expect(backups.create(SYSTEM, 'late.zip')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(backups.create(SYSTEM, 'later.zip')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await restart()
    expect(await keys()).toEqual([])
  },
)

test('a restore that runs when the server ends changes nothing', async () => {
  await addNote('one')
  const { backups } = server.backend
  await backups.create(SYSTEM, 'first.zip')
  await addNote('two')
  backups.around = (_event, _name, run) => (backups.end(), run())
  await expect(backups.restore(SYSTEM, 'first.zip')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect([restarts, await new RestoreFolder(dir).isReady()]).toEqual([0, false])
  await restart()
  expect(await notes()).toEqual(['one', 'two'])
})
