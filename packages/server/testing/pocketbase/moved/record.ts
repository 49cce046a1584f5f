/**
 * Makes the folder `golden` again with the real PocketBase: its data, as small as they get, and what it answers about them.
 * `POCKETBASE=./pocketbase npm run node -- packages/server/testing/pocketbase/moved/record.ts`
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { findPocketBase, PASSWORD, PocketBaseServer, SUPERUSER } from '../../../../../tools/test/pocketbase.ts'
import { everyAnswer, type OldLogin } from '../questions.ts'

/** A picture of 3 x 2 pixels. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAFUlEQVR4nGP4z8DAwMDwHwgYGBgYAB0HAwEt0ZKpAAAAAElFTkSuQmCC',
  'base64',
)
const LOGINS: readonly OldLogin[] = [
  { collection: 'users', identity: 'ann@example.com', password: 'the password of ann' },
  { collection: 'users', identity: 'bob@example.com', password: 'pässwörd of bob' },
]

const AUTODATES = [
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
]
const TEAMS = {
  id: 'teams0000000001',
  name: 'teams',
  type: 'base',
  listRule: '',
  viewRule: '',
  fields: [
    { name: 'name', type: 'text', required: true },
    { name: 'lead', type: 'relation', collectionId: '_pb_users_auth_' },
    { name: 'next', type: 'relation', collectionId: 'teams0000000001' },
    ...AUTODATES,
  ],
  indexes: ['CREATE UNIQUE INDEX `idx_team` ON `teams` (`name` COLLATE NOCASE)'],
}
const POSTS = {
  id: 'posts0000000001',
  name: 'posts',
  type: 'base',
  listRule: '@request.auth.id != "" && (open = true || author = @request.auth.id || teams.lead ?= @request.auth.id)',
  viewRule: 'author = @request.auth.id',
  createRule: '@request.auth.verified = true',
  fields: [
    { name: 'title', type: 'text', max: 50 },
    { name: 'body', type: 'editor' },
    { name: 'note', type: 'text', hidden: true },
    { name: 'votes', type: 'number' },
    { name: 'open', type: 'bool' },
    { name: 'due', type: 'date' },
    { name: 'tags', type: 'select', maxSelect: 3, values: ['red', 'green', 'blue'] },
    { name: 'kind', type: 'select', values: ['a', 'b'] },
    { name: 'meta', type: 'json' },
    { name: 'place', type: 'geoPoint' },
    { name: 'link', type: 'url' },
    { name: 'pictures', type: 'file', maxSelect: 3, thumbs: ['2x2', '0x4'] },
    { name: 'contract', type: 'file', protected: true },
    { name: 'author', type: 'relation', collectionId: '_pb_users_auth_', cascadeDelete: true },
    { name: 'teams', type: 'relation', collectionId: 'teams0000000001', maxSelect: 5 },
    ...AUTODATES,
  ],
  indexes: ['CREATE INDEX `idx_votes` ON `posts` (`votes`)'],
}
const TOTALS = {
  name: 'totals',
  type: 'view',
  listRule: '',
  viewQuery: 'SELECT author AS id, count(*) AS posts, sum(votes) AS votes FROM posts GROUP BY author',
}

const binary = findPocketBase()
if (binary === undefined) throw new Error('There is no PocketBase: name the program in POCKETBASE.')
const folder = join(import.meta.dirname, 'golden')
await using peer = await PocketBaseServer.start(binary)

await write('PATCH', '/api/settings', {
  meta: { appName: 'Moved', appURL: 'https://moved.example.com' },
  smtp: { host: 'mail.example.com', username: 'moved', password: 'the password of mails' },
})
await write('PUT', '/api/collections/import', { collections: [TEAMS, POSTS] })
await write('POST', '/api/collections', TOTALS)
await write('PATCH', '/api/collections/users', {
  listRule: '@request.auth.id != ""',
  authToken: { duration: 1_209_600 },
  oauth2: { enabled: true, providers: [{ name: 'github', clientId: 'moved', clientSecret: 'the secret of github' }] },
})
const accounts = [
  { id: 'ann000000000001', name: 'Ann', emailVisibility: true, verified: true, avatar: file('ann.png', PICTURE) },
  { id: 'bob000000000002', name: 'Bob' },
]
for (const [at, account] of accounts.entries()) {
  const { identity: email, password } = LOGINS[at]!
  await record('users', { ...account, email, password, passwordConfirm: password })
}
await record('_externalAuths', {
  collectionRef: '_pb_users_auth_',
  recordRef: 'ann000000000001',
  provider: 'github',
  providerId: '4711',
})
await record('teams', { id: 'zzz000000000001', name: 'Red', lead: 'bob000000000002' })
await record('teams', { id: 'aaa000000000002', name: 'Blue', lead: 'ann000000000001', next: 'zzz000000000001' })
// A cycle.
await write('PATCH', '/api/collections/teams/records/zzz000000000001', { next: 'aaa000000000002' })
await record('posts', {
  id: 'post00000000009',
  title: 'Häuser & "quotes"',
  body: '<p>first</p>',
  note: 'nobody sees it',
  votes: 0.1,
  open: true,
  due: '2024-02-29 12:00:00.000Z',
  tags: ['blue', 'red'],
  kind: 'b',
  meta: JSON.stringify({ b: [1, '2', null], a: { deep: true } }),
  place: JSON.stringify({ lon: 23.3, lat: 42.6 }),
  link: 'https://example.com/?a=1&b=2',
  pictures: [file('one.png', PICTURE), file('two.png', PICTURE), file('notes.txt', Buffer.from('a text\n'))],
  contract: file('Contract (final).pdf', Buffer.from('%PDF-1.4\n')),
  author: 'ann000000000001',
  teams: ['aaa000000000002', 'zzz000000000001'],
})
await record('posts', { id: 'post00000000001', votes: -12_345_678_901, author: 'bob000000000002', meta: '"text"' })
await record('posts', { id: 'post00000000005', title: 'nothing', kind: 'a', teams: ['zzz000000000001'], meta: '12' })
// The rule about what a title may be has come later.
await write('PATCH', '/api/collections/posts', {
  fields: POSTS.fields.map((field) => (field.name === 'title' ? { ...field, min: 8, max: 60 } : field)),
})

const answers = await everyAnswer({ url: peer.url, identity: SUPERUSER, password: PASSWORD }, LOGINS)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
for (const name of ['data.db', 'data.db-wal', 'storage'])
  cpSync(join(peer.folder, name), join(folder, name), {
    recursive: true,
    filter: (path) => !path.endsWith('.attrs') && !path.includes('thumbs_'),
  })
const database = new DatabaseSync(join(folder, 'data.db'))
database.exec('PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM')
database.close()
writeFileSync(join(folder, 'answers.json'), `${JSON.stringify({ logins: LOGINS, answers })}\n`)

function file(name: string, bytes: Uint8Array<ArrayBuffer>): File {
  return new File([bytes], name)
}

/** Each is made at a time of its own. */
async function record(collection: string, values: object): Promise<void> {
  await sleep(5)
  const form = new FormData()
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat() as (File | string)[]) {
      if (one instanceof File) form.append(name, one)
      else form.append(name, String(one))
    }
  await write('POST', `/api/collections/${collection}/records`, form)
}

async function write(method: string, path: string, body: object): Promise<void> {
  const { status, body: answer } = await peer.ask(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
}
