/**
 * Goal: the commands that work on database files do what their help says. They end with the exit code that scripts rely on, leave no
 * half files, and say what to do when something is wrong.
 * Method: real files; most in this process, the program itself once.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { open } from 'pannier'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { runCaptured } from './run-captured.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
const CITIES = [
  { _id: 'oslo', name: 'Oslo', population: 700_000 },
  { _id: 'rome', name: 'Rome', population: 2_800_000 },
]
const LINES = CITIES.map((city) => `${JSON.stringify(city)}\n`).join('')

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pannier-cli-'))
  file = join(folder, 'shop.db')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('help: of all commands and of each', async () => {
  const all = await runCaptured([])
  expect(all.code).toBe(0)
  const commands = [...all.out.matchAll(/^ {2}([a-z]+) \S/gm)].map(([, name]) => name!)
  expect(commands.length).toBeGreaterThanOrEqual(8)
  for (const command of commands.filter((name) => name !== 'help')) {
    const { code, out } = await runCaptured([command, '--help'])
    expect([command, code, out.startsWith(`Usage: pannier ${command}`)]).toEqual([command, 0, true])
  }
  expect((await runCaptured(['--version'])).out).toBe('1.2.3\n')
})

test('wrong arguments end with 2', async () => {
  expect((await runCaptured(['frobnicate'])).code).toBe(2)
  expect((await runCaptured(['import', file])).code).toBe(2)
  expect((await runCaptured(['import', file, 'cities', '-', '--mode', 'guess'])).code).toBe(2)
  expect((await runCaptured(['import', file, 'cities', join(folder, 'missing.json')])).code).toBe(2)
  expect((await runCaptured(['export', file, 'cities'])).err).toContain('There is no database at')
  await runCaptured(['import', file, 'cities'], { input: LINES })
  expect((await runCaptured(['export', file, 'towns'])).code).toBe(2)
  expect((await runCaptured(['export', file, 'cities', '--selector', '{'])).code).toBe(2)
  expect((await runCaptured(['compact', file, 'towns'])).code).toBe(2)
})

test('what is there is not replaced, what is not there is named, and help is that of the command', async () => {
  await runCaptured(['import', file, 'cities'], { input: LINES })
  const dumped = join(folder, 'shop.dump')
  expect((await runCaptured(['dump', file, dumped])).code).toBe(0)
  const twice = await runCaptured(['dump', file, dumped])
  expect([twice.code, twice.err]).toEqual([2, `${dumped} is there already; --force replaces it.\n`])
  expect((await runCaptured(['dump', file, dumped, '--force'])).code).toBe(0)
  const missing = join(folder, 'missing.json')
  expect((await runCaptured(['import', file, 'cities', missing])).err).toBe(`There is no file ${missing}.\n`)
  expect((await runCaptured(['user', 'add'])).err).toContain('(pannier user add --help tells what there is.)')
  const made = join(folder, 'made.db')
  expect((await runCaptured(['replicate', 'http://127.0.0.1:9/x', `${made}#x`])).code).toBe(1)
  expect(existsSync(made)).toBe(false)
})

test('with a password in the environment what is made is encrypted; a dump needs the password of its database', async () => {
  vi.stubEnv('PANNIER_PASSWORD', 'sesame')
  await runCaptured(['import', file, 'cities'], { input: LINES })
  const dumped = join(folder, 'shop.dump')
  expect((await runCaptured(['dump', file, dumped])).code).toBe(0)
  const [restored, repaired, plain] = ['restored.db', 'repaired.db', 'plain.db'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  vi.stubEnv('PANNIER_PASSWORD', undefined)
  const { code, err } = await runCaptured(['restore', restored, dumped])
  expect([code, err, existsSync(restored)]).toEqual([1, expect.stringContaining('PANNIER_PASSWORD'), false])
  expect((await runCaptured(['import', plain, 'cities'], { input: LINES })).err).toBe('2 documents imported.\n')
  await runCaptured(['dump', plain, `${dumped}.plain`])
  vi.stubEnv('PANNIER_PASSWORD', 'sesame')
  expect((await runCaptured(['restore', restored, dumped])).err).toBe(`${restored} restored: 1 collection.\n`)
  expect((await runCaptured(['repair', file, '--to', repaired])).code).toBe(0)
  expect((await runCaptured(['restore', join(folder, 'sealed.db'), `${dumped}.plain`])).code).toBe(0)
  for (const made of [file, restored, repaired, join(folder, 'sealed.db')]) {
    await expect(open(made)).rejects.toMatchObject({ code: 'PANNIER_ENCRYPTED' })
    expect((await runCaptured(['export', made, 'cities'])).out.match(/_id/g)).toHaveLength(2)
  }
  vi.unstubAllEnvs()
})

test('a missing folder, and a file instead of a folder, are errors in words', async () => {
  const one = await runCaptured(['import', file, 'cities'], { input: `${JSON.stringify(CITIES[0])}\n` })
  expect(one.err).toBe('1 document imported.\n')
  const missing = join(folder, 'missing')
  const { code, err } = await runCaptured(['export', file, 'cities', '--output', join(missing, 'cities.json')])
  expect([code, err]).toEqual([2, `There is no folder ${missing}.\n`])
})

test('import and export: what goes in comes out', async () => {
  const imported = await runCaptured(['import', file, 'cities'], { input: LINES })
  expect([imported.code, imported.err]).toEqual([0, '2 documents imported.\n'])
  const { out } = await runCaptured(['export', file, 'cities'])
  const documents = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(documents.map(({ _rev, ...rest }) => [typeof _rev, rest])).toEqual(CITIES.map((city) => ['string', city]))
  const some = await runCaptured([
    'export',
    file,
    'cities',
    '--format',
    'json',
    '--selector',
    '{"population":{"$gt":1e6}}',
  ])
  expect((JSON.parse(some.out) as { _id: string }[]).map(({ _id }) => _id)).toEqual(['rome'])

  const copy = join(folder, 'copy.db')
  await writeFile(join(folder, 'cities.ndjson'), out)
  await runCaptured(['import', copy, 'cities', join(folder, 'cities.ndjson'), '--mode', 'replicate'])
  expect((await runCaptured(['export', copy, 'cities'])).out).toBe(out)
})

test('an import that fails in part says where, and ends with 1', async () => {
  await runCaptured(['import', file, 'cities'], { input: LINES })
  const again = await runCaptured(['import', file, 'cities'], { input: `${LINES}{"_id":"bern"}\n` })
  expect(again.code).toBe(1)
  expect(again.err).toContain('1 document imported.')
  expect(again.err).toMatch(/line 1, oslo: /)
  expect(again.err).toContain('2 documents could not be imported.')
  expect((await runCaptured(['import', file, 'cities', '--mode', 'upsert'], { input: LINES })).code).toBe(0)
})

test('dump and restore: a whole database in one file', async () => {
  await runCaptured(['import', file, 'cities'], { input: LINES })
  const dump = join(folder, 'shop.dump')
  expect((await runCaptured(['dump', file, dump])).code).toBe(0)
  const copy = join(folder, 'new', 'copy.db')
  expect((await runCaptured(['restore', copy, dump])).err).toContain('1 collection.')
  expect((await runCaptured(['restore', copy, dump])).code).toBe(2)
  expect((await runCaptured(['export', copy, 'cities'])).out).toBe((await runCaptured(['export', file, 'cities'])).out)
  expect((await readdir(folder)).toSorted()).toEqual(['new', 'shop.db', 'shop.dump'])

  const damaged = join(folder, 'damaged.db')
  await writeFile(dump, (await readFile(dump)).subarray(0, -100))
  expect((await runCaptured(['restore', damaged, dump])).code).toBe(1)
})

test('inspect', async () => {
  const db = await open(file)
  const cities = db.collection('cities', { indexes: ['population'] })
  await cities.insert(CITIES)
  await cities.delete('oslo')
  await cities.ready()
  await db.close()
  const { out } = await runCaptured(['inspect', file])
  expect(out).toMatch(/^cities +1 +1 +3 +population$/m)
  const { collections } = JSON.parse((await runCaptured(['inspect', file, '--json'])).out) as { collections: object[] }
  expect(collections).toMatchObject([{ name: 'cities', documents: 1, deleted: 1, indexes: [{ ready: true }] }])
})

test('verify finds damage', async () => {
  await runCaptured(['import', file, 'cities'], { input: LINES })
  await runCaptured(['compact', file])
  expect(await runCaptured(['verify', file])).toMatchObject({ code: 0, err: 'No problems found.\n' })
  const { DatabaseSync } = await import('node:sqlite')
  const raw = new DatabaseSync(file)
  const row = raw.prepare('SELECT id, bytes FROM pages ORDER BY id DESC LIMIT 1').get() as {
    id: number
    bytes: Uint8Array
  }
  row.bytes[row.bytes.length - 20]! ^= 1
  raw.prepare('UPDATE pages SET bytes = ? WHERE id = ?').run(row.bytes, row.id)
  raw.close()
  expect((await runCaptured(['verify', file])).code).toBe(1)
})

test('repair saves what can be saved', async () => {
  await runCaptured(['import', file, 'cities'], { input: LINES })
  await runCaptured(['compact', file])
  const whole = await runCaptured(['repair', file])
  expect(whole).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^cities: \d+ documents and 0 tombstones saved\.\n$/),
  })
  expect(await runCaptured(['verify', `${file}.repaired`])).toMatchObject({ code: 0 })
  expect((await runCaptured(['repair', file])).code).toBe(2)
  const { DatabaseSync } = await import('node:sqlite')
  const raw = new DatabaseSync(file)
  raw.exec('DELETE FROM pages')
  raw.close()
  const before = await readFile(file)
  const to = `${file}.second`
  const cut = await runCaptured(['repair', file, '--to', to, '--json'])
  expect(cut.code).toBe(1)
  expect(JSON.parse(cut.out)).toMatchObject({ isComplete: false, collections: [{ name: 'cities', documents: 0 }] })
  expect(await readFile(file)).toEqual(before)
  expect(await runCaptured(['verify', to])).toMatchObject({ code: 0 })
})

test('repair of an encrypted file whose log is damaged keeps what authenticates', async () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('PANNIER_PASSWORD', 'sesame')
  const db = await open(file, { encryption: { password: 'sesame' } })
  for (const city of CITIES) await db.collection('cities').insert(city)
  await db.close()
  const { DatabaseSync } = await import('node:sqlite')
  const raw = new DatabaseSync(file)
  const isRecord = `sequence < ${Number.MAX_SAFE_INTEGER}`
  raw.exec(`DELETE FROM log WHERE sequence = (SELECT max(sequence) FROM log WHERE ${isRecord})`)
  raw.close()
  expect((await runCaptured(['verify', file])).err).toContain('PANNIER_CORRUPT')
  const { code, out } = await runCaptured(['repair', file])
  expect([code, out]).toEqual([1, expect.stringMatching(/log does not end where it should[^]*cities: 1 document/)])
  expect((await runCaptured(['export', `${file}.repaired`, 'cities'])).out).toContain('Oslo')
})

test('compact forgets what was replaced', async () => {
  const db = await open(file)
  const cities = db.collection('cities', { history: true })
  await cities.insert({ _id: 'oslo', n: 0 })
  for (let n = 0; n < 3; n++) await cities.update('oslo', (city) => ({ ...city, n }))
  await db.close()
  expect((await runCaptured(['compact', file])).err).toContain('cities: the content of 3 old revisions forgotten.')
})

test('a file that a server has open is not touched, and the message says what to do', async () => {
  const db = await open(file)
  await db.collection('cities').insert(CITIES)
  await expect(runProgram('verify', file)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/A server that is running has it.*PANNIER_LOCKED/) as string,
  })
  await db.close()
})

test('Ctrl-C: no half file is left, and the exit code says so', async () => {
  await runCaptured(['import', file, 'cities'], { input: LINES })
  const dump = join(folder, 'shop.dump')
  const { code, err } = await runCaptured(['dump', file, dump], { signal: AbortSignal.abort(new Error('Stopped.')) })
  expect([code, err]).toEqual([130, 'Stopped.\n'])
  expect(existsSync(dump)).toBe(false)
  expect((await readdir(folder)).toSorted()).toEqual(['shop.db'])
})

test('the program itself', async () => {
  await writeFile(join(folder, 'cities.ndjson'), LINES)
  await runProgram('import', file, 'cities', join(folder, 'cities.ndjson'))
  expect((await runProgram('export', file, 'cities')).stdout.split('\n').length).toBe(3)
  await expect(runProgram('export', file, 'towns')).rejects.toMatchObject({ code: 2 })
})

test('the program ends when its input stays open and its outputs are closed', async () => {
  const other = join(folder, 'no.db')
  await writeFile(other, 'This is no database.'.repeat(1000))
  const started = [['import', other, 'cities'], ['--help']].map((command) => {
    const child = spawn(process.execPath, ['--conditions=pannier-source', MAIN, ...command])
    child.stdout.destroy()
    return Promise.all([once(child, 'exit'), child.stderr.toArray()])
  })
  for (const [[code], said] of await Promise.all(started)) {
    expect(code).toBe(1)
    expect(said.join('')).not.toMatch(/^\s+at /m)
  }
})

function runProgram(...parameters: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ['--conditions=pannier-source', MAIN, ...parameters])
}
