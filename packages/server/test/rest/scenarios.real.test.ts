/**
 * Scenarios of PocketBase's API against our server: testing/pocketbase/golden has them, the data, the program that loads
 * the data by HTTP, and the one that replays the scenarios. All are used as they are.
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LogEntry } from '@pannier/backend'
import { freePort } from '../../../../tools/processes.ts'
import { PASSWORD, SUPERUSER } from '../../../../tools/test/pocketbase.ts'
import { startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'
import { ITSELF } from './rest-server.ts'

const TIMEOUT_MS = 600_000
const MATERIAL = join(import.meta.dirname, '../../testing/pocketbase/golden')

/** What is served. */
const KINDS = [
  'auth-impersonate',
  'auth-methods',
  'auth-refresh',
  'auth-with-oauth2',
  'auth-with-otp',
  'auth-with-password',
  'backups',
  'batch',
  'collections-create',
  'collections-delete',
  'collections-import',
  'collections-list',
  'collections-meta',
  'collections-truncate',
  'collections-update',
  'collections-view',
  'confirm-email-change',
  'confirm-password-reset',
  'confirm-verification',
  'files-download',
  'files-token',
  'crons',
  'health',
  'logs',
  'oauth2-redirect',
  'realtime',
  'records-create',
  'records-delete',
  'records-list',
  'records-update',
  'records-view',
  'request-email-change',
  'request-otp',
  'request-password-reset',
  'request-verification',
  'settings',
  'sql',
]
/** What comes later, and how many scenarios that is. */
const LATER: Readonly<Record<string, number>> = {}

/**
 * Scenarios of these kinds that are not replayed all the same, by a part of their id. One sorts by `created`, which
 * no loader can set by HTTP: the real PocketBase fails it, too, after such a load.
 */
const LEFT_OUT: Readonly<Record<string, number>> = {
  'TestCollectionsList/authorized as superuser + paging and sorting': 1,
}

/** As the program of the real peer seeds them. */
const LOGS = [
  logOf('873f2133-9f38-44fb-bf82-c8f53b310d91', '2022-05-01 10', {
    level: 0,
    message: 'test_message1',
    data: { status: 200 },
  }),
  logOf('f2133873-44fb-9f38-bf82-c918f53b310d', '2022-05-02 10', {
    level: 8,
    message: 'test_message2',
    data: { status: 400 },
  }),
]

interface Scenario {
  readonly id: string
  readonly kind: string
}

interface Result extends Scenario {
  readonly pass: boolean
  readonly errors?: readonly string[]
}

function logOf(_id: string, hour: string, entry: Required<LogEntry>) {
  return { _id, created: `${hour}:00:00.123Z`, hour: `${hour}:00:00.000Z`, ...entry }
}

async function scenarios(): Promise<readonly Scenario[]> {
  const file = await readFile(join(MATERIAL, 'scenarios.json'), 'utf8')
  return (JSON.parse(file) as { scenarios: Scenario[] }).scenarios
}

function isLater({ id, kind }: Scenario): boolean {
  return !KINDS.includes(kind) || Object.keys(LEFT_OUT).some((part) => id.includes(part))
}

test('every scenario is replayed, or is counted as one that comes later', async () => {
  const all = await scenarios()
  const later: Record<string, number> = {}
  for (const { kind } of all) if (!KINDS.includes(kind)) later[kind] = (later[kind] ?? 0) + 1
  expect(later).toEqual(LATER)
  for (const [part, count] of Object.entries(LEFT_OUT))
    expect([part, all.filter(({ id }) => id.includes(part)).length]).toEqual([part, count])
})

test(
  'the data set loads, and the scenarios of records, collections, logins and settings pass',
  { timeout: TIMEOUT_MS },
  async () => {
    await using world = await World.start()
    const map = world.path('map.json')
    const loaded = await world.run('load-dataset.mjs', ['--dataset', join(MATERIAL, 'dataset.json'), '--out-map', map])
    expect(loaded).toEqual({ code: 0, output: expect.any(String) as string })
    await world.keep()
    const ids = world.path('ids.json')
    const replayed = (await scenarios()).filter((scenario) => !isLater(scenario))
    await writeFile(ids, JSON.stringify(replayed.map(({ id }) => id)))
    const out = world.path('results.json')
    const asked = ['--scenarios', join(MATERIAL, 'scenarios.json'), '--ids', ids, '--file-map', map, '--out', out]
    const how = ['--superuser', `${SUPERUSER}:${PASSWORD}`, '--reset', world.resetCommand, '--reset-when', 'dirty']
    const { output } = await world.run('replay.mjs', [...asked, ...how])
    const results = JSON.parse(await readFile(out, 'utf8')) as Result[]
    expect(results.length, output).toBe(replayed.length)
    const failed = results.filter(({ pass }) => !pass)
    expect(failed.map(({ id, errors }) => [id, errors])).toEqual([])
  },
)

/** A server that can be put back to a kept state, also by a command. */
class World implements AsyncDisposable {
  readonly #folder: string
  readonly #port: number
  readonly #control = createServer(({ url }, response) => {
    this.#putBack(url === '/seed-logs').then(
      () => response.end('done'),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  #server: TestServer | undefined

  static async start(): Promise<World> {
    const world = new World(await mkdtemp(join(tmpdir(), 'pannier-scenarios-')), await freePort())
    await new Promise<void>((resolve) => world.#control.listen(0, '127.0.0.1', resolve))
    await world.#open()
    const superuser = { email: SUPERUSER, password: PASSWORD, passwordConfirm: PASSWORD }
    await world.#server!.server.backend.records.create(ITSELF, '_superusers', superuser)
    return world
  }

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
  }

  path(name: string): string {
    return join(this.#folder, name)
  }

  /** Connects to `#control`, and fails if the answer does. With SEED_LOGS it wants other logs, which no request can make. */
  get resetCommand(): string {
    const { port } = this.#control.address() as AddressInfo
    return `exec 3<>/dev/tcp/127.0.0.1/${port}; printf "POST /\${SEED_LOGS:+seed-logs} HTTP/1.0\\r\\n\\r\\n" >&3; grep -q done <&3`
  }

  async #open(): Promise<void> {
    this.#server = await startServer({ dir: this.path('data'), port: this.#port })
  }

  async keep(): Promise<void> {
    await this.#server!.close()
    await cp(this.path('data'), this.path('kept'), { recursive: true })
    await this.#open()
  }

  async #putBack(withLogs: boolean): Promise<void> {
    await this.#server!.close()
    await rm(this.path('data'), { recursive: true })
    await cp(this.path('kept'), this.path('data'), { recursive: true })
    await this.#open()
    if (!withLogs) return
    const { logs } = this.#server!.server.backend
    await logs.truncate()
    await logs.documents.insert(LOGS)
  }

  /** Runs a program of the material on the server. */
  run(program: string, args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
    const all = [join(MATERIAL, program), '--base', this.#server!.url, ...args]
    const options = { maxBuffer: 1 << 26 }
    return new Promise((resolve) => {
      execFile(process.execPath, all, options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr })
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.close()
    this.#control.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
