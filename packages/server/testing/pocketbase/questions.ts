/**
 * Questions about everything that a server with PocketBase's API has. They ask for lists of all collections, in several orders, with
 * filters and expands, as superuser, account and guest. They ask for files, thumbs, definitions and logins. Two servers with the same
 * data answer the same.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ask, logIn, type Reply } from '../../../../tools/test/pocketbase.ts'

/** The login of a superuser. */
export interface Root {
  readonly url: string
  readonly identity: string
  readonly password: string
}

/** A password that an account has had since before it was moved. */
export interface OldLogin {
  readonly collection: string
  readonly identity: string
  readonly password: string
}

/** By question. */
export type Answers = Readonly<Record<string, unknown>>

interface Collection {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly system: boolean
  readonly fields: readonly Field[]
}

interface Field {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly thumbs?: readonly string[] | null
}

type Row = Readonly<Record<string, unknown>>

const SYSTEM = ['_superusers', '_mfas', '_otps', '_externalAuths', '_authOrigins']

/** Asks everything. Logins come last: they may leave traces. */
export async function everyAnswer(root: Root, logins: readonly OldLogin[]): Promise<Answers> {
  const token = await logIn(root.url, '_superusers', root.identity, root.password)
  const asRoot = async (path: string): Promise<Reply> => ask(root.url, 'GET', path, undefined, token)
  const collections = itemsIn<Collection>(await asRoot('/api/collections?perPage=500&sort=name'))
  const ordinary = collections.filter(({ name }) => !SYSTEM.includes(name))
  const answers: Record<string, unknown> = {}
  for (const collection of ordinary) answers[`definition ${collection.name}`] = comparable(collection)
  answers['external accounts'] = (await asRoot('/api/collections/_externalAuths/records?sort=id')).body
  const tokens = await tokensOf(root.url, token, ordinary)
  for (const collection of ordinary)
    for (const query of queriesOf(collection))
      for (const [who, one] of Object.entries({ ...tokens, root: token, guest: '' })) {
        const path = `/api/collections/${collection.name}/records?${new URLSearchParams(query)}`
        const { status, body } = await ask(root.url, 'GET', path, undefined, one)
        answers[`${who}: ${decodeURIComponent(path)}`] = { status, body }
      }
  Object.assign(answers, await filesOf(root.url, token, ordinary))
  for (const { collection, identity, password } of logins)
    for (const typed of [password, `${password}!`]) {
      const path = `/api/collections/${collection}/auth-with-password`
      const { status, body } = await ask(root.url, 'POST', path, { identity, password: typed }, '')
      const { record, mfaId } = body as { readonly record?: unknown; readonly mfaId?: unknown }
      answers[`login ${collection} ${identity} ${typed}`] = {
        status,
        record: record ?? null,
        isHalf: mfaId !== undefined,
      }
    }
  return answers
}

/** The questions that are answered otherwise, and how. */
export function differences(expected: Answers, answers: Answers): readonly (readonly unknown[])[] {
  const questions = [...new Set([...Object.keys(expected), ...Object.keys(answers)])]
  return questions
    .map((question) => [question, expected[question], answers[question]] as const)
    .filter(([, one, other]) => !isDeepStrictEqual(one, other))
}

/** Tokens of two accounts of each collection, by name. */
async function tokensOf(
  url: string,
  root: string,
  collections: readonly Collection[],
): Promise<Readonly<Record<string, string>>> {
  const tokens: Record<string, string> = {}
  for (const { name, type } of collections) {
    if (type !== 'auth') continue
    const path = `/api/collections/${name}`
    const rows = itemsIn<Row>(await ask(url, 'GET', `${path}/records?sort=id&perPage=2`, undefined, root))
    for (const { id } of rows) {
      const { body } = await ask(url, 'POST', `${path}/impersonate/${String(id)}`, { duration: 3600 }, root)
      tokens[`${name}/${String(id)}`] = (body as { readonly token: string }).token
    }
  }
  return tokens
}

function queriesOf({ fields }: Collection): readonly Record<string, string>[] {
  const named = (type: string): readonly string[] =>
    fields.flatMap((field) => (field.type === type ? [field.name] : []))
  const relations = named('relation')
  const expand = relations.join(',')
  const filters = [
    'id != ""',
    ...named('text').map((name) => `${name} ~ "a" || ${name}:length > 2`),
    ...named('number').map((name) => `${name} > 1`),
    ...named('bool').map((name) => `${name} = true`),
    ...named('autodate').map((name) => `${name} >= "2022-06-01 00:00:00.000Z"`),
    ...named('select').map((name) => `${name}:length >= 1`),
    ...named('email').map((name) => `${name} ~ "@"`),
    ...named('geoPoint').map((name) => `geoDistance(${name}.lon, ${name}.lat, 23, 42) < 1000`),
    ...relations.flatMap((name) => [`${name} != ""`, `${name}.id ?~ "a"`]),
  ]
  const sorts = [
    '-id',
    ...named('autodate').map((name) => `${name},-id`),
    ...named('number').map((name) => `-${name},id`),
  ]
  return [
    // The order in which they were made.
    { perPage: '500' },
    { perPage: '500', expand },
    ...sorts.map((sort) => ({ perPage: '2', page: '2', sort })),
    ...filters.map((filter) => ({ perPage: '500', sort: 'id', filter })),
  ]
}

/** What is stored, and the sizes of thumbs, which no two programs make alike. */
async function filesOf(url: string, root: string, collections: readonly Collection[]): Promise<Answers> {
  const answers: Record<string, unknown> = {}
  const { body } = await ask(url, 'POST', '/api/files/token', undefined, root)
  const { token } = body as { readonly token: string }
  for (const { name, fields } of collections) {
    const files = fields.filter(({ type }) => type === 'file')
    if (files.length === 0) continue
    const rows = itemsIn<Row>(await ask(url, 'GET', `/api/collections/${name}/records?perPage=500`, undefined, root))
    for (const row of rows)
      for (const field of files)
        for (const file of [row[field.name]].flat().filter((one) => one !== '')) {
          const path = `/api/files/${name}/${String(row['id'])}/${String(file)}`
          for (const asked of [path, `${path}?token=${token}`]) {
            const response = await fetch(url + asked)
            const content = createHash('sha256')
              .update(new Uint8Array(await response.arrayBuffer()))
              .digest('hex')
            const type = response.headers.get('content-type')
            answers[`file ${asked.replace(token, 'TOKEN')}`] = response.ok ? { type, content } : response.status
          }
          for (const thumb of field.thumbs ?? []) {
            const response = await fetch(`${url}${path}?token=${token}&thumb=${thumb}`)
            const bytes = new Uint8Array(await response.arrayBuffer())
            answers[`thumb ${path} ${thumb}`] = { type: response.headers.get('content-type'), size: sizeOfPng(bytes) }
          }
        }
  }
  return answers
}

function sizeOfPng(bytes: Uint8Array): readonly number[] | null {
  const view = new DataView(bytes.buffer)
  return bytes.length > 24 && bytes[1] === 0x50 ? [view.getUint32(16), view.getUint32(20)] : null
}

function itemsIn<T>({ body }: Reply): readonly T[] {
  return (body as { readonly items: readonly T[] }).items
}

/** Fields of views get a new id with each start. When the definition was made here, it was made now. */
function comparable({ fields, type, ...others }: Collection): Row {
  const shown = fields.map(({ id, ...field }) => (type === 'view' ? field : { id, ...field }))
  return { ...others, type, fields: shown, created: '', updated: '' }
}
