/** Goal: hooks of a PocketBase project answer here what they answer there. Method: some kinds; `hooks.real.test.ts` has all. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD, SUPERUSER } from '../../../tools/test/pocketbase.ts'
import { startRest, tokenFor, ITSELF, type RestServer } from '../../server/test/rest/rest-server.ts'
import { CASES as ALL } from './cases.ts'
import { writeProject } from './folder.ts'
import { play, prepare } from './project.ts'

/** Writes, what surrounds them, routes, isolation, files beside the handlers, jobs. */
const NAMES = [
  'create',
  'create_data',
  'update',
  'transaction',
  'generators',
  'router_use',
  'body',
  'require',
  'isolated',
  'cron',
]
const CASES = ALL.filter(({ name }) => NAMES.includes(name))
const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'golden/answers.json'), 'utf8')) as Record<
  string,
  unknown
>
const project = mkdtempSync(join(tmpdir(), 'pb-project-'))

let server: RestServer
let token = ''

beforeAll(async () => {
  writeProject(project, CASES)
  const dir = join(project, 'data')
  mkdirSync(dir)
  server = await startRest({ dir, app: { pocketbase: { dir: project } } })
  const { records } = server.server.backend
  await records.create(ITSELF, '_superusers', { email: SUPERUSER, password: PASSWORD, passwordConfirm: PASSWORD })
  token = await tokenFor(server.url, '_superusers', SUPERUSER, PASSWORD)
  await prepare({ url: server.url, token }, CASES)
})
afterAll(async () => {
  await server.close()
  rmSync(project, { recursive: true, force: true })
})

test.for(CASES.map((one) => [one.name, one] as const))('%s', async ([name, one]) => {
  expect(await play({ url: server.url, token }, [one])).toEqual({ [name]: golden[name] })
})
