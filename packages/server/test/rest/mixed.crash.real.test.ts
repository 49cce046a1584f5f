/**
 * Goal: kill -9 amid all kinds of work loses nothing that was acknowledged. It leaves no content that no record names, and whole
 * backups. No mail comes twice. Method: a server in a process of its own, killed at a random moment. Meanwhile clients upload, replace
 * and delete files, ask for thumbs and mails, write batches, make backups, run crons and listen. EFFORT=25 kills 100 times.
 */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from 'pannier'
import { openBackend } from '@pannier/backend'
import { RestoreFolder } from '@pannier/backend/internal'
import { expect, test } from 'vitest'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { until } from '../test-server.ts'
import { EventClient } from './event-client.ts'
import { ServeProcess } from './serve-process.ts'

const ROUNDS = times(4)
const LOAD_MS_MAX = 900
const BATCH = 3
/** A picture of 3 x 2 pixels. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAFUlEQVR4nGP4z8DAwMDwHwgYGBgYAB0HAwEt0ZKpAAAAAElFTkSuQmCC',
  'base64',
)
const HASH = '$2a$04$yVJ5ZVcGNCjLPQE7i8KdNeSbBqbwnZwaFE5xDwCJ2KMWGrSqJqYYK'
/** A job of the operator. */
const HOOK = `export default ({ cronAdd, app }) => {
  cronAdd('tick', '0 0 1 1 *', async () => {
    await app.save(app.newRecord('ticks'))
  })
}
`

/** A record with files as it was acknowledged. Undefined: deleted. */
type Note = { readonly text: string; readonly files: Readonly<Record<string, string>> } | undefined

/** What is known of one client's work. */
class World {
  readonly notes = new Map<string, Note>()
  /** The notes whose last write has no answer. */
  readonly open = new Set<string>()
  readonly batches = new Map<string, 'asked' | 'done'>()
  readonly mailsTo = new Set<string>()
  readonly backups = new Set<string>()
  /** Records of batches in messages of realtime. */
  readonly heard = new Set<string>()
  count = 0
}

test(`${ROUNDS} kills (SEED=${FIRST_SEED})`, { timeout: 120_000 + ROUNDS * 60_000 }, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-mixed-kill-'))
  const random = seededRandom(FIRST_SEED)
  await using smtp = await MailServer.start()
  // Some are slow, so that the kill comes in their midst.
  smtp.refuse = () => sleep((smtp.mails.length % 3) * 40, undefined)
  const world = new World()
  let startMsMax = 0
  await mkdir(join(dir, 'hooks'))
  await writeFile(join(dir, 'hooks/tick.ts'), HOOK)
  await ServeProcess.prepare(dir)
  let server = await ServeProcess.start(dir)
  try {
    await prepare(server, smtp)
    // A slow machine needs more rounds until each kind of work was acknowledged once.
    for (let round = 1; round <= ROUNDS || (round <= 4 * ROUNDS && isLacking(world)); round++) {
      const ended = WORKERS.map((work) => untilKilled(() => work(server, world, random)))
      // The rounds that a slow machine adds are longer and longer, so that the slowest kind of work comes to its end too.
      const mostMs = LOAD_MS_MAX * (1 + Math.max(0, round - ROUNDS) / 4)
      await sleep(round <= ROUNDS && random.chance(0.2) ? random.below(50) : random.below(mostMs))
      await server[Symbol.asyncDispose]()
      expect([round, (await Promise.all(ended)).flat()]).toEqual([round, []])
      expect([round, await leftOvers(dir)]).toEqual([round, []])
      const start = performance.now()
      server = await ServeProcess.start(dir)
      startMsMax = Math.max(startMsMax, performance.now() - start)
      expect([round, await compare(server, world)]).toEqual([round, []])
      if (round % 10 === 0) console.log(JSON.stringify({ kills: round, ...countsOf(world), startMsMax }))
    }
    expect(await wrongMails(server, world, smtp)).toEqual([])
    await server[Symbol.asyncDispose]()
    expect(await wrongBackups(dir, world)).toEqual([])
  } finally {
    await server[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  }
  const counts = countsOf(world)
  for (const [name, count] of Object.entries(counts)) expect([name, count > 0]).toEqual([name, true])
})

/** What was acknowledged. */
function countsOf({ notes, batches, mailsTo, backups, heard }: World): Readonly<Record<string, number>> {
  const done = [...batches.values()].filter((state) => state === 'done').length
  return { notes: notes.size, batches: done, mails: mailsTo.size, backups: backups.size, heard: heard.size }
}

function isLacking(world: World): boolean {
  return Object.values(countsOf(world)).includes(0)
}

async function prepare(server: ServeProcess, smtp: MailServer): Promise<void> {
  const fields = [
    { name: 'text', type: 'text' },
    { name: 'files', type: 'file', maxSelect: 5, thumbs: ['2x2'] },
  ]
  await must(server, 'POST /collections', { name: 'notes', fields })
  const parts = [
    { name: 'batch', type: 'text' },
    { name: 'at', type: 'number' },
  ]
  await must(server, 'POST /collections', { name: 'parts', listRule: '', viewRule: '', fields: parts })
  await must(server, 'POST /collections', { name: 'ticks', fields: [] })
  const logs = { maxDays: 5, minLevel: 0 }
  await must(server, 'PATCH /settings', {
    ...smtp.settings,
    batch: { enabled: true, maxRequests: 50, timeout: 60 },
    logs,
  })
}

/** Each does one thing after another, until the server is gone. */
const WORKERS = [writeNotes, writeNotes, writeBatches, askForMails, makeBackups, runCrons, listen] as const

/** Resolves with what went wrong before that. */
async function untilKilled(work: () => Promise<void>): Promise<readonly string[]> {
  try {
    await work()
    return []
  } catch (error) {
    // What fetch and sockets throw when the connection ends.
    const isGone =
      error instanceof TypeError || (error as { readonly code?: string }).code?.startsWith('ECONN') === true
    return isGone ? [] : [String(error)]
  }
}

async function writeNotes(server: ServeProcess, world: World, random: Random): Promise<void> {
  for (;;) {
    const known = [...world.notes].filter(([id, note]) => note !== undefined && !world.open.has(id))
    const [old, note] = known.length > 3 ? known[random.below(known.length)]! : []
    const kind = random.next()
    const id = old ?? `note${String(++world.count).padStart(11, '0')}`
    if (world.open.has(id)) continue
    world.open.add(id)
    if (old !== undefined && kind < 0.2) {
      const { status } = await server.call(`DELETE /collections/notes/records/${id}`)
      if (status !== 204) throw new Error(`A note is not deleted: ${status}`)
      world.notes.set(id, undefined)
    } else {
      const text = `text ${++world.count}`
      const form = new FormData()
      form.set('text', text)
      if (old === undefined) form.set('id', id)
      const digests = new Set<string>()
      for (let at = random.below(3); at >= 0; at--) {
        const bytes = at === 0 ? PICTURE : Buffer.alloc(1 + random.below(60_000), `${text} ${at} `)
        digests.add(digestOf(bytes))
        // It takes the place of the old ones.
        form.append('files', new File([bytes], at === 0 ? 'picture.png' : 'file.txt'))
      }
      const path = old === undefined ? 'records' : `records/${id}`
      const method = old === undefined ? 'POST' : 'PATCH'
      const { status, json } = await sendForm(server, method, `/api/collections/notes/${path}`, form)
      if (status !== 200) throw new Error(`A note is not written: ${status} ${JSON.stringify(json)}`)
      const names = json['files'] as string[]
      const files = Object.fromEntries(names.map((name) => [name, '']))
      for (const name of names) files[name] = await contentOf(server, id, name)
      if (names.some((name) => !digests.has(files[name]!))) throw new Error(`A file of ${id} has other content.`)
      world.notes.set(id, { text, files })
      const picture = names.find((name) => name.endsWith('.png'))
      if (picture !== undefined) await contentOf(server, id, `${picture}?thumb=2x2`)
    }
    world.open.delete(id)
    if (note !== undefined && random.chance(0.1)) await sleep(5)
  }
}

async function writeBatches(server: ServeProcess, world: World): Promise<void> {
  for (;;) {
    const batch = `batch ${++world.count}`
    world.batches.set(batch, 'asked')
    const requests = Array.from({ length: BATCH }, (_, at) => ({
      method: 'POST',
      url: '/api/collections/parts/records',
      body: { batch, at },
    }))
    const { status, text } = await server.call('POST /batch', { requests })
    if (status !== 200) throw new Error(`A batch fails: ${text}`)
    world.batches.set(batch, 'done')
  }
}

/** A mail for each address. */
async function askForMails(server: ServeProcess, world: World): Promise<void> {
  for (;;) {
    const id = `user${String(++world.count).padStart(11, '0')}`
    const email = `${id}@example.com`
    const row = { id, email, password: HASH, tokenKey: `${id} ${'k'.repeat(30)}` }
    await must(server, 'POST /imports/users/rows', { rows: [row] })
    await must(server, 'POST /collections/users/request-verification', { email })
    world.mailsTo.add(email)
  }
}

async function makeBackups(server: ServeProcess, world: World): Promise<void> {
  for (;;) {
    const name = `b${++world.count}.zip`
    // Another one may run since before.
    if ((await server.call('POST /backups', { name })).status === 204) world.backups.add(name)
    if (world.backups.size % 3 === 2) {
      const [first] = world.backups
      world.backups.delete(first!)
      await server.call(`DELETE /backups/${first}`)
    }
    await sleep(150)
  }
}

async function runCrons(server: ServeProcess): Promise<void> {
  for (;;)
    for (const id of ['tick', '__pbLogsCleanup__', '__pbDBOptimize__', '__pbOTPCleanup__']) {
      await must(server, `POST /crons/${id}`)
      await sleep(10)
    }
}

/** A message comes after the commit. */
async function listen(server: ServeProcess, world: World): Promise<void> {
  const client = await EventClient.open(server.url)
  await client.subscribe(['parts/*'])
  await until(() => client.isClosed)
  for (const { data } of client.messages) world.heard.add((data['record'] as { id: string }).id)
}

/** What is in the file of a killed server and should not be. */
async function leftOvers(dir: string): Promise<readonly string[]> {
  const database = await open(join(dir, 'pannier.sqlite'))
  try {
    const problems = (await database.check()).problems.map(({ message }) => `check: ${message}`)
    const backend = await openBackend(database, { sendsMails: false })
    try {
      await backend.files.settled()
      const records = new Map<string, readonly string[]>()
      for await (const record of backend.definitions.records(backend.definitions.get('notes')).find({})) {
        const { _id: id, files, _attachments: attachments = {} } = record as unknown as StoredNote
        records.set(id, files)
        if (String(Object.keys(attachments).sort()) !== String([...files].sort()))
          problems.push(`${id} names ${String(files)}, and has ${String(Object.keys(attachments))}`)
      }
      for await (const { record, name } of database.collection<KeptNote>('$files').find({}))
        if (records.get(record)?.includes(name) !== true) problems.push(`a thumb of ${record}/${name} is left`)
    } finally {
      await backend.close()
    }
    return problems
  } finally {
    await database.close()
  }
}

interface StoredNote {
  readonly _id: string
  readonly files: readonly string[]
  readonly _attachments?: object
}

interface KeptNote {
  readonly _id: string
  readonly record: string
  readonly name: string
}

/** What is not as it was acknowledged. Adopts what has no answer. */
async function compare(server: ServeProcess, world: World): Promise<readonly string[]> {
  const problems: string[] = []
  for (const [id, note] of world.notes) {
    if (world.open.has(id)) continue
    const { status, json } = await server.call(`GET /collections/notes/records/${id}`)
    if (note === undefined) {
      if (status !== 404) problems.push(`${id} is deleted, and is there`)
      continue
    }
    if (json['text'] !== note.text) problems.push(`${id} has the text ${String(json['text'])}, not ${note.text}`)
    for (const [name, digest] of Object.entries(note.files))
      if ((await contentOf(server, id, name)) !== digest) problems.push(`${id}/${name} has other content`)
  }
  for (const id of world.open) {
    const { status, json } = await server.call(`GET /collections/notes/records/${id}`)
    if (status !== 200) {
      world.notes.delete(id)
      continue
    }
    const files: Record<string, string> = {}
    for (const name of json['files'] as string[]) files[name] = await contentOf(server, id, name)
    if (Object.values(files).includes('')) problems.push(`${id} lacks content`)
    world.notes.set(id, { text: String(json['text']), files })
  }
  world.open.clear()
  const all: { id: string; batch: string }[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { json } = await server.call(`GET /collections/parts/records?perPage=1000&page=${page}&sort=id`)
    all.push(...(json['items'] as typeof all))
    pages = Number(json['totalPages'])
  }
  const sizes = new Map<string, number>()
  for (const { batch } of all) sizes.set(batch, (sizes.get(batch) ?? 0) + 1)
  for (const [batch, state] of world.batches) {
    const size = sizes.get(batch) ?? 0
    if (size !== BATCH && (size !== 0 || state === 'done')) problems.push(`${batch} (${state}) has ${size} parts`)
  }
  const ids = new Set(all.map(({ id }) => id))
  for (const id of world.heard) if (!ids.has(id)) problems.push(`a message had ${id}, which is not there`)
  return problems
}

/** Each mail that was asked for has come once, or the log has it. */
async function wrongMails(server: ServeProcess, { mailsTo }: World, smtp: MailServer): Promise<readonly string[]> {
  const counts = new Map<string, number>()
  const count = (): void => {
    counts.clear()
    for (const { recipients } of smtp.mails) for (const to of recipients) counts.set(to, (counts.get(to) ?? 0) + 1)
  }
  // Until no more mails come.
  for (let before = -1; before !== smtp.mails.length;) {
    before = smtp.mails.length
    await sleep(4000)
  }
  const isSettled = async (to: string): Promise<boolean> => {
    count()
    if (counts.has(to)) return true
    const { json } = await server.call(`GET /logs?filter=${encodeURIComponent(`data.to = "${to}"`)}`)
    return json['totalItems'] !== 0
  }
  for (const to of mailsTo)
    await until(
      () => isSettled(to),
      () => `${to} got no mail, and the log has none`,
    )
  count()
  return [...counts].filter(([, times]) => times > 1).map(([to, times]) => `${to} got ${times} mails`)
}

/** Those that were acknowledged are there, and all can be restored. */
async function wrongBackups(dir: string, { backups }: World): Promise<readonly string[]> {
  const names = await readdir(join(dir, 'backups'))
  const problems = [...backups].filter((name) => !names.includes(name)).map((name) => `${name} is gone`)
  for (const name of names) {
    const other = await mkdtemp(join(tmpdir(), 'pannier-checked-'))
    await new RestoreFolder(other).prepare(join(dir, 'backups', name), {}).catch((error: unknown) => {
      problems.push(`${name} can't be restored: ${(error as Error).message}`)
    })
    await rm(other, { recursive: true })
  }
  return problems
}

/** The digest; empty for a file that is missing. */
async function contentOf(server: ServeProcess, id: string, name: string): Promise<string> {
  const response = await fetch(`${server.url}/api/files/notes/${id}/${name}`)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return response.ok ? digestOf(bytes) : ''
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function sendForm(
  server: ServeProcess,
  method: string,
  path: string,
  body: FormData,
): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> {
  const headers = { authorization: server.token }
  const response = await fetch(server.url + path, { method, headers, body })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

async function must(server: ServeProcess, request: string, body?: unknown): Promise<void> {
  const { status, text } = await server.call(request, body)
  if (status >= 300) throw new Error(`${request}: ${status} ${text}`)
}
