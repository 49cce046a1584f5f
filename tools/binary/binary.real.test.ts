/**
 * Goal: the server as one executable file needs nothing beside it. Method: the file is built, and runs in an empty folder with an empty
 * environment: no Node on the path, no modules. The unit and the Containerfile in deploy/ are read as far as this machine can.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSync } from '@node-rs/bcrypt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kill } from '../processes.ts'
import { open } from 'pannier'
import { until } from '../../packages/server/test/test-server.ts'
import { call, EMAIL, PASSWORD, tokenFor } from '../../packages/server/test/rest/rest-server.ts'
import { askSecurely } from '../../packages/server/test/tls/https-client.ts'
import { selfSigned } from '../../packages/server/test/tls/self-signed.ts'
import { buildBinary } from './build.ts'

const ROOT = join(import.meta.dirname, '../..')

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let dir: string
let program: string
let child: ChildProcess | undefined

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-one-file-'))
  program = join(dir, 'pannier')
  await buildBinary(program)
})
afterAll(async () => {
  if (child !== undefined) await kill(child)
  await rm(dir, { recursive: true, force: true })
})

function run(...parameters: readonly string[]): readonly [code: number | null, out: string, err: string] {
  const { status, stdout, stderr } = spawnSync(program, parameters, { cwd: dir, env: { PATH: '' }, encoding: 'utf8' })
  return [status, stdout, stderr]
}

/** A superuser whose password PocketBase has hashed. */
async function withBcrypt(email: string): Promise<void> {
  run('superuser', 'create', email, 'another password', '--dir', 'data')
  const database = await open(join(dir, 'data/pannier.sqlite'))
  const records = database.collection<{ email: string; password: string }>('$records_pbc_3142635823')
  const { _id } = (await records.find({ email }).first())!
  await records.update(_id, { password: hashSync('imported', 10) })
  await database.close()
}

test('it serves, runs hooks, functions, SQL, migrations and backups, and ends when asked', async () => {
  expect(await readdir(dir)).toEqual(['pannier'])
  expect(run('--version')).toEqual([0, '0.1.0\n', ''])
  expect(run('superuser', 'upsert', EMAIL, PASSWORD, '--dir', 'data')[0]).toBe(0)
  await withBcrypt('imported@example.com')
  await mkdir(join(dir, 'data/hooks'))
  await writeFile(
    join(dir, 'data/hooks/hello.ts'),
    `export default ({ routerAdd, onRecordCreate }: any): void => {
       routerAdd('GET', '/hello', (e: any) => e.json(200, { hello: 'you' }))
       onRecordCreate(async (e: any) => { e.record.set('slug', e.record.getString('title').toLowerCase()); await e.next() }, 'posts')
     }`,
  )
  await mkdir(join(dir, 'data/migrations'))
  await writeFile(
    join(dir, 'data/migrations/1_posts.ts'),
    `export const up = (app: any): Promise<unknown> => app.createCollection({ name: 'posts', listRule: '', fields: [
       { name: 'title', type: 'text' }, { name: 'slug', type: 'text' }, { name: 'photo', type: 'file', thumbs: ['2x2'] }] })`,
  )
  let printed = ''
  child = spawn(program, ['serve', '--dir', 'data', '--port', '0', '--couch-admin', 'root:password-of-root'], {
    cwd: dir,
    env: { PATH: '' },
  })
  child.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await until(() => printed.includes('listens at') || child?.exitCode !== null)
  const url = /http:\/\/\S+/.exec(printed)?.[0] ?? printed
  const token = await tokenFor(url, '_superusers', EMAIL, PASSWORD)

  expect(await tokenFor(url, '_superusers', 'imported@example.com', 'imported')).toBeDefined()
  const form = new FormData()
  form.append('photo', new File([PIXEL], 'a.png'))
  const headers = { authorization: token }
  const photo = await fetch(`${url}/api/collections/posts/records`, { method: 'POST', body: form, headers })
  const { id, photo: name } = (await photo.json()) as { readonly id: string; readonly photo: string }
  const thumb = await fetch(`${url}/api/files/posts/${id}/${name}?thumb=2x2`)
  expect([thumb.status, (await thumb.arrayBuffer()).byteLength], 'without sharp').toEqual([200, PIXEL.length])

  const made = await call(url, 'POST /collections/posts/records', { title: 'Hello' }, token)
  expect([made.status, made.json['slug']]).toEqual([200, 'hello'])
  expect(await (await fetch(`${url}/hello`)).json()).toEqual({ hello: 'you' })
  expect(await (await fetch(`${url}/_/`)).text(), 'the admin page').toContain('<script type="module"')
  const sql = await call(url, 'POST /sql', { query: "SELECT title FROM posts WHERE title != ''" }, token)
  expect([sql.status, sql.json['rows']]).toEqual([200, [['Hello']]])

  const authorization = `Basic ${Buffer.from('root:password-of-root').toString('base64')}`
  const couch = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
  await couch('PUT', '/notes')
  const views = { all: { map: 'function (doc) { emit(doc.n * 2) }' } }
  await couch('PUT', '/notes/_design/d', { views })
  await couch('PUT', '/notes/a', { n: 21 })
  expect(await (await couch('GET', '/notes/_design/d/_view/all')).json()).toMatchObject({ rows: [{ key: 42 }] })

  expect((await call(url, 'POST /backups', { name: 'one.zip' }, token)).status).toBe(204)
  expect(await readdir(join(dir, 'data/backups'))).toEqual(['one.zip'])
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
  expect(run('backup', 'restore', 'one.zip', '--dir', 'data')[0]).toBe(0)
  expect(run('types', '--dir', 'data')[1]).toContain('posts: {')
})

test('it serves HTTPS with a certificate in files', async () => {
  const { chain, key } = await selfSigned(['localhost'])
  await writeFile(join(dir, 'chain.pem'), chain)
  await writeFile(join(dir, 'key.pem'), key)
  const parameters = ['serve', '--dir', 'secure', '--port', '0', '--tls-cert', 'chain.pem', '--tls-key', 'key.pem']
  child = spawn(program, parameters, { cwd: dir, env: { PATH: '' } })
  let printed = ''
  child.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr!.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await until(() => printed.includes('listens at') || child?.exitCode !== null)
  const port = Number(/https:\/\/\S+:(\d+)/.exec(printed)?.[1])
  expect(port, printed).toBeGreaterThan(0)
  expect((await askSecurely(port, 'localhost', '/api/health', chain)).status).toBe(200)
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
})

test('the systemd unit starts the file with options that it has', async () => {
  const unit = await readFile(join(ROOT, 'deploy/pannier.service'), 'utf8')
  const values = Object.fromEntries(
    unit.split('\n').flatMap((line) => (/^(\w+)=(.*)$/.exec(line) ? [line.split(/=(.*)/s).slice(0, 2)] : [])),
  ) as Record<string, string>
  const [executable, command, ...options] = values['ExecStart']!.split(' ')
  expect([executable, command]).toEqual(['/usr/local/bin/pannier', 'serve'])
  const help = run('serve', '--help')[1]
  for (const option of options.filter((one) => one.startsWith('--'))) expect(help).toContain(option)
  expect(values).toMatchObject({ StateDirectory: 'pannier', KillSignal: 'SIGTERM', Restart: 'always' })
  const verified = spawnSync('systemd-analyze', ['verify', join(ROOT, 'deploy/pannier.service')], { encoding: 'utf8' })
  if (verified.error !== undefined) console.warn('!!! systemd-analyze is missing: the unit was only read.')
  else expect(verified.stderr.replaceAll(/^.*Command \/usr\/local\/bin\/pannier is not executable.*\n?/gm, '')).toBe('')
})

test('the Containerfile copies the file that the build makes, and runs it as nobody special', async () => {
  const lines = (await readFile(join(ROOT, 'deploy/Containerfile'), 'utf8')).split('\n')
  const [binary] = lines.flatMap((line) => /npm run binary -- (\S+)/.exec(line)?.[1] ?? [])
  expect(lines).toContain(`COPY --from=build ${binary} /usr/local/bin/pannier`)
  expect(lines).toContain('USER nonroot')
  const command = JSON.parse(lines.find((line) => line.startsWith('CMD '))!.slice(4)) as string[]
  const help = run(command[0]!, '--help')[1]
  for (const option of command.filter((one) => one.startsWith('--'))) expect(help).toContain(option)
})
