/**
 * Goal: routes that show records or log in give callers what they may have. Method: a private record beside a public one, for each kind
 * of caller; accounts that a rule, a hook or a second method keeps out.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD, SUPERUSER } from '../../../tools/test/pocketbase.ts'
import { SYSTEM } from '../../backend/src/index.ts'
import { ITSELF, startRest, tokenFor, type RestServer } from '../../server/test/rest/rest-server.ts'

const HOOKS = `
routerAdd('GET', '/api/visits', (e) => {
  const visits = $app.findRecordsByFilter('visits', 'id != ""', 'day')
  $apis.enrichRecords(e, visits, 'hive', 'hive.owner')
  return e.json(200, visits)
})
routerAdd('POST', '/api/enter/{name}', (e) => {
  const account = $app.findFirstRecordByData('users', 'name', e.request.pathValue('name'))
  return $apis.recordAuthResponse(e, account, e.request.url.query().get('by'), { by: 'a badge' })
})
onRecordAuthRequest((e) => {
  if (e.record.getString('name') == 'bob' && e.authMethod == 'badge') throw new ForbiddenError('Ask the office.')
  e.next()
}, 'users')
onRecordEnrich((e) => {
  if (e.requestInfo.auth?.getString('name') != 'vet') e.record.hide('secret')
  e.record.withCustomData(true)
  e.record.set('shownTo', e.requestInfo.auth?.getString('name') ?? 'guest')
  e.next()
}, 'hives', 'visits')
`
const project = mkdtempSync(join(tmpdir(), 'pb-project-'))
let server: RestServer

beforeAll(async () => {
  mkdirSync(join(project, 'pb_hooks'))
  writeFileSync(join(project, 'pb_hooks/main.pb.js'), HOOKS)
  server = await startRest({ app: { pocketbase: { dir: project } } })
  const { definitions, records } = server.server.backend
  await definitions.create(SYSTEM, {
    name: 'hives',
    viewRule: 'public = true || owner = @request.auth.id || @request.auth.name = "vet"',
    fields: [
      { name: 'public', type: 'bool' },
      { name: 'secret', type: 'text' },
      { name: 'owner', type: 'relation', collectionId: '_pb_users_auth_' },
    ],
  })
  await definitions.create(SYSTEM, {
    name: 'visits',
    fields: [
      { name: 'day', type: 'number' },
      { name: 'secret', type: 'text' },
      { name: 'hive', type: 'relation', collectionId: definitions.find('hives')!.id },
    ],
  })
  const account = (name: string): Promise<{ readonly id: string }> =>
    records.create(ITSELF, 'users', {
      name,
      email: `${name}@example.org`,
      password: PASSWORD,
      passwordConfirm: PASSWORD,
    }) as Promise<never>
  const [ann] = [await account('ann'), await account('vet'), await account('bob'), await account('out')]
  for (const [day, isPublic] of [false, true].entries()) {
    const hive = (await records.create(ITSELF, 'hives', { public: isPublic, secret: 'h', owner: ann.id })) as never
    await records.create(ITSELF, 'visits', { day, secret: 'v', hive: hive['id'] })
  }
  await records.create(ITSELF, '_superusers', { email: SUPERUSER, password: PASSWORD, passwordConfirm: PASSWORD })
})
afterAll(async () => {
  await server.close()
  rmSync(project, { recursive: true, force: true })
})

interface Seen {
  readonly secret?: string
  readonly shownTo: string
  readonly expand?: { readonly hive: Seen & { readonly public: boolean; readonly expand?: { readonly owner: object } } }
}

/** The visits as text: what the caller sees of each, and of its hive, and of the owner of that. */
async function seenBy(caller: string): Promise<string> {
  const collection = caller === SUPERUSER ? '_superusers' : 'users'
  const token = caller === 'guest' ? '' : await tokenFor(server.url, collection, caller, PASSWORD)
  const answer = await fetch(`${server.url}/api/visits`, { headers: { authorization: token } })
  const text = ({ secret = '-', shownTo }: Seen): string => `${secret} ${shownTo}`
  const visits = (await answer.json()) as Seen[]
  return visits
    .map((visit) => {
      const hive = visit.expand?.hive
      const owner = hive?.expand?.owner === undefined ? '' : ' with owner'
      return `${text(visit)}${hive === undefined ? '' : `, ${text(hive)} ${hive.public ? 'public' : 'private'}${owner}`}`
    })
    .join('; ')
}

test.each([
  ['guest', '- guest; - guest, - guest public'],
  ['ann@example.org', '- ann, - ann private with owner; - ann, - ann public with owner'],
  ['vet@example.org', 'v vet, h vet private; v vet, h vet public'],
  // What a hook hides before e.next() is shown to superusers all the same, as there.
  [SUPERUSER, 'v , h  private with owner; v , h  public with owner'],
])('%s', async (caller, seen) => {
  expect(await seenBy(caller)).toBe(seen)
})

interface Entered {
  readonly token: string
  readonly record: { readonly name: string }
  readonly meta: { readonly by: string }
  readonly message: string
}

async function enter(name: string, by: string): Promise<string> {
  const answer = await fetch(`${server.url}/api/enter/${name}?by=${by}`, { method: 'POST' })
  const { token, record, meta, message } = (await answer.json()) as Entered
  return answer.ok ? `${token === '' ? 'no token' : 'token'} of ${record.name} by ${meta.by}` : message
}

test('recordAuthResponse gives no token to whom the collection or a hook keeps out', async () => {
  const { definitions } = server.server.backend
  await definitions.update(SYSTEM, 'users', { authRule: 'name != "out"' })
  expect(await enter('ann', 'badge')).toBe('token of ann by a badge')
  expect(await enter('out', 'badge')).toBe("The request doesn't satisfy the collection requirements to authenticate.")
  expect(await enter('bob', 'badge')).toBe('Ask the office.')
  await definitions.update(SYSTEM, 'users', { otp: { enabled: true }, mfa: { enabled: true } })
  expect(await enter('ann', 'badge')).not.toContain('token')
  expect(await enter('ann', '')).toBe('token of ann by a badge')
})
