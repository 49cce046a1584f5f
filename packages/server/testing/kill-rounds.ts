/**
 * kill -9 under load. The server is a process of its own. Several connections put, write in bulk, delete and upload without a
 * pause, until SIGKILL at a random moment. Then the file is verified, the server is started again, and each document is compared. It is
 * as the last acknowledged write has left it, or as the one whose answer did not come would have. A bulk write is there whole or not at
 * all. Chance is by seed; the moment at which the kill meets the server is not.
 */
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from 'pannier'
import { seededRandom } from '../../db/testing/random.ts'
import type { Random } from '../../db/testing/random.ts'
import { ADMIN as authorization } from '../test/test-server.ts'
import { startProcess } from './processes.ts'

export interface KillResult {
  readonly rounds: number
  /** Documents that were written and acknowledged. */
  readonly acknowledged: number
  /** Writes under way when the server was killed: those that were there afterwards, and those that were not. */
  readonly applied: number
  readonly vanished: number
  /** What should not be: empty. */
  readonly problems: readonly string[]
}

interface Stored {
  readonly n: number
  readonly deleted: boolean
  /** The digest of the attachment `file`, if there is one. */
  readonly digest: string | undefined
  /** Undefined until it is acknowledged. */
  readonly rev: string | undefined
}

type Change = readonly (readonly [id: string, to: Stored])[]

const CONNECTIONS = 6
const DOCUMENTS_PER_CONNECTION = 25
const SHARED = 5
const LOAD_MS_MAX = 300
const ATTACHMENT_BYTES_MAX = 150_000

export async function killRounds(
  rounds: number,
  seed: number,
  onRound: (round: number, result: KillResult) => void = () => {},
): Promise<KillResult> {
  const random = seededRandom(seed)
  const dir = await mkdtemp(join(tmpdir(), 'pannier-kill-'))
  const clients = Array.from({ length: CONNECTIONS }, (_, at) => new Client(`c${at}`, seededRandom(seed * 1000 + at)))
  const result = { rounds: 0, acknowledged: 0, applied: 0, vanished: 0, problems: [] as string[] }
  try {
    for (let round = 1; round <= rounds; round++) {
      const server = await startProcess('pannier-process.ts', [dir])
      if (round === 1) await fetch(`${server.url}/db`, { method: 'PUT', headers: { authorization } })
      for (const client of clients) await client.compare(server.url, result)
      const ended = clients.map((client) => client.load(server.url))
      await sleep(random.chance(0.2) ? random.below(20) : random.below(LOAD_MS_MAX))
      await server.kill()
      await Promise.all(ended)
      const db = await open(join(dir, 'pannier.sqlite'))
      result.problems.push(...(await db.check()).problems.map(({ message }) => `verify: ${message}`))
      await db.close()
      result.rounds = round
      onRound(round, result)
      if (result.problems.length > 0) break
    }
    const server = await startProcess('pannier-process.ts', [dir])
    for (const client of clients) await client.compare(server.url, result)
    await server.close()
    return result
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

class Client {
  readonly #name: string
  readonly #random: Random
  /** What was acknowledged. */
  readonly #documents = new Map<string, Stored>()
  /** Acknowledged since the last comparison. */
  #acknowledged: [id: string, rev: string][] = []
  #pending: Change = []
  #count = 0

  constructor(name: string, random: Random) {
    this.#name = name
    this.#random = random
  }

  /** Writes until the server is gone. */
  async load(url: string): Promise<void> {
    try {
      for (;;) await this.#write(url)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }

  async #write(url: string): Promise<void> {
    const random = this.#random
    const id = this.#pickId()
    const old = this.#documents.get(id)
    const live = old !== undefined && !old.deleted
    const kind = random.next()
    if (kind < 0.1) return this.#writeShared(url)
    if (kind < 0.3) return this.#bulk(url)
    if (kind < 0.45 && live) {
      await this.#send(
        [[id, { n: 0, deleted: true, digest: undefined, rev: undefined }]],
        'DELETE',
        `${url}/db/${id}?rev=${old.rev}`,
      )
    } else if (kind < 0.6 && live) {
      const bytes = Buffer.alloc(random.below(ATTACHMENT_BYTES_MAX) + 1, `${this.#name} ${++this.#count} `)
      const to = { ...old, digest: digestOf(bytes), rev: undefined }
      await this.#send([[id, to]], 'PUT', `${url}/db/${id}/file?rev=${old.rev}`, bytes)
    } else {
      const n = ++this.#count
      const to = { n, deleted: false, digest: undefined, rev: undefined }
      await this.#send([[id, to]], 'PUT', `${url}/db/${id}`, { ...(live && { _rev: old.rev }), ...fieldsOf(n) })
    }
  }

  async #bulk(url: string): Promise<void> {
    const ids = new Set(Array.from({ length: 2 + this.#random.below(8) }, () => this.#pickId()))
    const docs: object[] = []
    const change = Array.from(ids, (id): [string, Stored] => {
      const old = this.#documents.get(id)
      const live = old !== undefined && !old.deleted
      const deleted = live && this.#random.chance(0.2)
      const n = deleted ? 0 : ++this.#count
      docs.push({ _id: id, ...(live && { _rev: old.rev }), ...(deleted ? { _deleted: true } : fieldsOf(n)) })
      return [id, { n, deleted, digest: undefined, rev: undefined }]
    })
    await this.#send(change, 'POST', `${url}/db/_bulk_docs`, { docs })
  }

  /** All connections fight for these documents, so a conflict is a right answer. */
  async #writeShared(url: string): Promise<void> {
    const id = `shared-${this.#random.below(SHARED)}`
    const old = (await (await fetch(`${url}/db/${id}`, { headers: { authorization } })).json()) as { _rev?: string }
    const { status, answer } = await send('PUT', `${url}/db/${id}`, {
      ...(old._rev && { _rev: old._rev }),
      ...fieldsOf(++this.#count),
    })
    if (status === 201) this.#acknowledged.push([id, (answer as { rev: string }).rev])
  }

  async #send(change: Change, method: string, url: string, body?: object): Promise<void> {
    this.#pending = change
    const { status, answer } = await send(method, url, body)
    if (status !== 200 && status !== 201) throw new Error(`${method} ${url}: ${status} ${JSON.stringify(answer)}`)
    const written = (Array.isArray(answer) ? answer : [answer]) as { id: string; rev?: string }[]
    for (const [at, [id, to]] of change.entries()) {
      const { rev } = written[at]!
      if (rev === undefined) throw new Error(`${method} ${url}: ${JSON.stringify(answer)}`)
      this.#documents.set(id, { ...to, rev })
      this.#acknowledged.push([id, rev])
    }
    this.#pending = []
  }

  /** Adopts what is there. */
  async compare(
    url: string,
    result: { acknowledged: number; applied: number; vanished: number; problems: string[] },
  ): Promise<void> {
    const pending = new Map(this.#pending)
    let applied = 0
    for (const id of new Set([...this.#documents.keys(), ...pending.keys()])) {
      const known = this.#documents.get(id)
      const there = await read(url, id)
      const wanted = pending.get(id)
      if (sameRevision(there, known)) {
        if (known !== undefined && !sameContent(there, known))
          result.problems.push(`${id}: other content: ${text(there)}, not ${text(known)}`)
      } else if (wanted !== undefined && sameContent(there, wanted)) {
        applied++
        this.#documents.set(id, there!)
      } else result.problems.push(`${id}: ${text(there)}, not ${text(known)} or ${text(wanted)}`)
    }
    if (applied !== 0 && applied !== pending.size)
      result.problems.push(`${this.#name}: ${applied} of ${pending.size} written in bulk`)
    if (pending.size > 0) result[applied > 0 ? 'applied' : 'vanished']++
    result.problems.push(...(await this.#missing(url)))
    result.acknowledged += this.#acknowledged.length
    this.#acknowledged = []
    this.#pending = []
  }

  async #missing(url: string): Promise<string[]> {
    const revs: Record<string, string[]> = {}
    for (const [id, rev] of this.#acknowledged) (revs[id] ??= []).push(rev)
    const { answer } = await send('POST', `${url}/db/_revs_diff`, revs)
    return Object.entries(answer as object).map(([id, missing]) => `${id}: lost ${JSON.stringify(missing)}`)
  }

  #pickId(): string {
    return `${this.#name}-${this.#random.below(DOCUMENTS_PER_CONNECTION)}`
  }
}

function fieldsOf(n: number): object {
  return { n, text: `text ${n}`.repeat(1 + (n % 50)) }
}

function sameRevision(there: Stored | undefined, known: Stored | undefined): boolean {
  return (there?.rev ?? '') === (known?.rev ?? '')
}

function sameContent(there: Stored | undefined, wanted: Stored): boolean {
  return (
    there !== undefined && there.n === wanted.n && there.deleted === wanted.deleted && there.digest === wanted.digest
  )
}

function text(stored: Stored | undefined): string {
  return JSON.stringify(stored) ?? 'nothing'
}

/** Undefined: there has never been one. */
async function read(url: string, id: string): Promise<Stored | undefined> {
  const open = `open_revs=all&attachments=true`
  const answer = await fetch(`${url}/db/${id}?${open}`, { headers: { accept: 'application/json', authorization } })
  if (answer.status === 404) return undefined
  const leaves = (await answer.json()) as { ok: Record<string, unknown> }[]
  if (leaves.length !== 1) throw new Error(`${id} has ${leaves.length} leaves`)
  const { _rev, _deleted, n = 0, text = '', _attachments } = leaves[0]!.ok as Record<string, never>
  const { file } = (_attachments ?? {}) as { file?: { data: string } }
  const whole = _deleted ?? (fieldsOf(n) as { text: string }).text === text
  const digest = file === undefined ? undefined : digestOf(Buffer.from(file.data, 'base64'))
  return { n: whole ? n : -1, deleted: _deleted === true, digest, rev: _rev }
}

async function send(method: string, url: string, body?: object): Promise<{ status: number; answer: unknown }> {
  const isBytes = body instanceof Uint8Array
  const answer = await fetch(url, {
    method,
    headers: { authorization, 'content-type': isBytes ? 'application/octet-stream' : 'application/json' },
    ...(body !== undefined && { body: isBytes ? (body as BodyInit) : JSON.stringify(body) }),
  })
  return { status: answer.status, answer: await answer.json() }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('base64')
}
