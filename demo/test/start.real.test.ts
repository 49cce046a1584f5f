/** Runs the program of `npm start` on a small selection: it answers, and a second run uses the loaded cities. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { notRun } from '../../tools/test/not-run.ts'
import { findPostgres, POSTGRES_NEEDED } from '../../tools/test/postgres.ts'
import { DATABASE, serveSeveral } from '../node/servers.ts'

const PROGRAM = join(import.meta.dirname, '..', 'start.ts')
const LIMIT = 2_000

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pannier-demo-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('loads, answers, and uses what is there the second time', async () => {
  const first = await run('--no-serve')
  expect(first.code, first.output).toBe(0)
  expect(first.output).toContain('2,000 cities in ')
  expect(first.output).toMatch(/One city by its id +Zürich, Switzerland: 341,730 /)
  expect(first.output).toMatch(/The five largest of Japan +Tokyo, Yokohama, Osaka, Nagoya, Sapporo /)
  expect(first.output).toMatch(/How many have 100,000 to 1 million people +\d,\d{3} /)
  expect(first.output).toMatch(/How many in all +2,000 /)

  const second = await run('--no-serve')
  expect(second.code, second.output).toBe(0)
  expect(second.output).toMatch(/opened in .* m?s: 2,000 cities are there from an earlier run/)
  const answers = (output: string): string[] => output.split('\n').map((line) => line.replace(/( +<?[\d.]+ m?s)+$/, ''))
  expect(answers(second.output).slice(-12)).toEqual(answers(first.output).slice(-12))
})

test('serves the page until it is stopped', async () => {
  const { output, code, adminPage } = await run('--port', '0')
  expect(output).toMatch(/http:\/\/localhost:\d+/)
  expect(adminPage).toContain('<script type="module"')
  expect(output).toContain('the database is closed')
  expect(code).toBe(0)
})

test('several servers answer while one of them is killed', async (context) => {
  if (findPostgres() === undefined) notRun(context, POSTGRES_NEEDED)
  const servers = await serveSeveral({
    count: 2,
    port: 0,
    superuser: undefined,
    prepare: async (_server, storage) => {
      await using db = await open(DATABASE, { storage })
      await db.collection('cities').insert({ _id: 'zurich' })
    },
  })
  try {
    const put = async (id: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${servers.url}/cities/${id}`, { method: 'PUT', headers, body: '{}' })).status
    }
    expect(await put('before')).toBe(201)
    process.kill(servers.processes[0]!, 'SIGKILL')
    for (const id of ['a', 'b', 'c', 'd']) await vi.waitFor(async () => expect(await put(id)).toBe(201), 60_000)
    const { rows } = (await (await fetch(`${servers.url}/cities/_all_docs`)).json()) as { rows: { id: string }[] }
    expect(rows.map(({ id }) => id)).toEqual(['a', 'b', 'before', 'c', 'd', 'zurich'])
    expect((await fetch(servers.pageUrl)).status).toBe(200)
  } finally {
    await servers.close()
  }
})

test('says what is wrong with an argument', async () => {
  const { output, code } = await run('--port', 'many')
  expect(output).toContain("--port takes a whole number from 0 to 65535, not 'many'.")
  expect(code).toBe(2)
})

interface Run {
  readonly output: string
  readonly code: number | null
  /** Undefined: it did not serve. */
  readonly adminPage: string | undefined
}

/** Runs to the end; stops the program with Ctrl+C's signal as soon as it says how. */
async function run(...args: readonly string[]): Promise<Run> {
  const flags = ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, PROGRAM, '--limit', String(LIMIT), '--data', folder, ...args], {
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let adminPage: Promise<string> | undefined
  const onText = (text: string): void => {
    output += text
    if (adminPage !== undefined || !output.includes('Ctrl+C stops the server')) return
    adminPage = textOf(/http:\S+\/_\/(?=\s)/.exec(output)![0]).finally(() => child.kill('SIGINT'))
  }
  child.stdout.setEncoding('utf8').on('data', onText)
  child.stderr.setEncoding('utf8').on('data', onText)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { output, code, adminPage: await adminPage }
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text()
}
