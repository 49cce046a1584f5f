/** Requests of an app or a shell for each operation, with the collection's own fields. No token is in it. */
import type { Collection, Field } from '../../api/collections.ts'
import { apiUrl } from '../../api/request.ts'
import { kindOf } from '../kinds.ts'

const OF_RECORDS = ['list', 'view', 'create', 'update', 'delete', 'realtime', 'batch'] as const
const OF_ACCOUNTS = ['password', 'refresh', 'otp', 'oauth2', 'verification', 'reset', 'email', 'methods'] as const

export type Operation = (typeof OF_RECORDS)[number] | (typeof OF_ACCOUNTS)[number]

const ID = 'RECORD_ID'

export function operationsOf({ type, otp, oauth2, passwordAuth }: Collection): readonly Operation[] {
  if (type === 'view') return ['list', 'view']
  if (type === 'base') return OF_RECORDS
  const isOn: Readonly<Partial<Record<Operation, boolean>>> = {
    otp: otp?.enabled === true,
    oauth2: oauth2?.enabled === true,
    password: passwordAuth?.enabled === true,
  }
  return [...OF_RECORDS, ...OF_ACCOUNTS.filter((name) => isOn[name] !== false)]
}

/** Values for a new record. */
function sampleInput({ fields, type }: Collection, isNew: boolean): Readonly<Record<string, unknown>> {
  const given = fields.filter((field) => {
    const { isAutomatic, holds } = kindOf(field)
    return !field.system && !isAutomatic && holds !== 'files'
  })
  const own = Object.fromEntries(given.map((field): [string, unknown] => [field.name, kindOf(field).sample(field)]))
  if (type !== 'auth' || !isNew) return own
  return { email: 'ann@example.com', password: 'a long password', passwordConfirm: 'a long password', ...own }
}

export function sdkOf(collection: Collection, operation: Operation): string {
  const head = `import PocketBase from 'pocketbase'\n\nconst pb = new PocketBase(${JSON.stringify(serverUrl())})\n`
  return `${head}\n${SDK[operation](collection, `pb.collection(${JSON.stringify(collection.name)})`)}`
}

type SdkExample = (collection: Collection, service: string) => string

const SDK: Readonly<Record<Operation, SdkExample>> = {
  list: (collection, service) => {
    const options = listOptions(collection)
    return `const page = await ${service}.getList(1, 30, ${text(options)})\nfor (const record of page.items) console.log(record.id)`
  },
  view: (_collection, service) => `const record = await ${service}.getOne('${ID}')`,
  create: (collection, service) =>
    `const record = await ${service}.create(${text(sampleInput(collection, true))})${filesNote(collection)}`,
  update: (collection, service) =>
    `const record = await ${service}.update('${ID}', ${text(firstOf(sampleInput(collection, false)))})`,
  delete: (_collection, service) => `await ${service}.delete('${ID}')`,
  realtime: (_collection, service) =>
    `const stop = await ${service}.subscribe('*', ({ action, record }) => {\n  console.log(action, record.id)\n})\n\n// Later:\nawait stop()`,
  batch: ({ name }) =>
    `const batch = pb.createBatch()\nbatch.collection(${JSON.stringify(name)}).delete('${ID}')\nawait batch.send()`,
  password: (_collection, service) =>
    `const { token, record } = await ${service}.authWithPassword('ann@example.com', 'a long password')`,
  refresh: (_collection, service) => `await ${service}.authRefresh()`,
  otp: (_collection, service) =>
    `const { otpId } = await ${service}.requestOTP('ann@example.com')\n// The code comes by mail.\nawait ${service}.authWithOTP(otpId, '12345678')`,
  oauth2: ({ oauth2 }, service) =>
    `await ${service}.authWithOAuth2({ provider: '${oauth2?.providers[0]?.name ?? 'google'}' })`,
  verification: (_collection, service) =>
    `await ${service}.requestVerification('ann@example.com')\n// With the token of the mail:\nawait ${service}.confirmVerification('TOKEN')`,
  reset: (_collection, service) =>
    `await ${service}.requestPasswordReset('ann@example.com')\n// With the token of the mail:\nawait ${service}.confirmPasswordReset('TOKEN', 'another password', 'another password')`,
  email: (_collection, service) =>
    `await ${service}.requestEmailChange('new@example.com')\n// With the token of the mail:\nawait ${service}.confirmEmailChange('TOKEN', 'a long password')`,
  methods: (_collection, service) => `const methods = await ${service}.listAuthMethods()`,
}

/** With the library that works offline, too. None of what it does by itself, and of collections that it does not hold. */
export function clientOf(collection: Collection, operation: Operation): string | undefined {
  const { name, type, system } = collection
  const example = type === 'view' || system ? undefined : CLIENT[operation]
  if (example === undefined) return undefined
  const collections = text({ collections: { [name]: {} } })
  const head = `import { connect } from '@pannier/client'\n\nconst client = await connect(${JSON.stringify(serverUrl())}, ${collections})\n`
  return `${head}\n${example(collection, `client.collection(${JSON.stringify(name)})`)}`
}

const CLIENT: Readonly<Partial<Record<Operation, SdkExample>>> = {
  list: (collection, service) => {
    const compared = comparedField(collection)
    const selector = compared === undefined ? '' : text({ [compared.name]: kindOf(compared).sample(compared) })
    const { sort } = listOptions(collection)
    return `const records = await ${service}.find(${selector}).sort('${sort === 'id' ? '_id' : sort}').toArray()`
  },
  view: (_collection, service) => `const record = await ${service}.get('${ID}')`,
  create: (collection, service) =>
    `const write = ${service}.create(${text(sampleInput(collection, true))})${filesNote(collection)}\nawait write // stored on this device, and shown\nawait write.server // what the server says of it`,
  update: (collection, service) => `await ${service}.update('${ID}', ${text(firstOf(sampleInput(collection, false)))})`,
  delete: (_collection, service) => `await ${service}.delete('${ID}')`,
  realtime: (_collection, service) =>
    `const live = ${service}.find().live()\nconst stop = live.subscribe(({ rows }) => console.log(rows.length))\n\n// Later:\nstop()`,
  batch: ({ name }) =>
    `await client.transaction(async (tx) => {\n  await tx.collection(${JSON.stringify(name)}).delete('${ID}')\n})`,
  password: ({ name }) =>
    `const account = await client.signIn.password(${JSON.stringify(name)}, 'ann@example.com', 'a long password')`,
  otp: ({ name }) =>
    `const otpId = await client.signIn.requestOneTimePassword(${JSON.stringify(name)}, 'ann@example.com')\n// The code comes by mail.\nawait client.signIn.oneTimePassword(${JSON.stringify(name)}, otpId, '12345678')`,
  oauth2: ({ name, oauth2 }) =>
    `button.onclick = () => client.signIn.oauth2(${JSON.stringify(name)}, '${oauth2?.providers[0]?.name ?? 'google'}')`,
  verification: ({ name }) =>
    `await client.signIn.requestVerification(${JSON.stringify(name)}, 'ann@example.com')\n// With the token of the mail:\nawait client.signIn.confirmVerification(${JSON.stringify(name)}, 'TOKEN')`,
  reset: ({ name }) =>
    `await client.signIn.requestPasswordReset(${JSON.stringify(name)}, 'ann@example.com')\n// With the token of the mail:\nawait client.signIn.confirmPasswordReset(${JSON.stringify(name)}, 'TOKEN', 'another password')`,
}

export function curlOf(collection: Collection, operation: Operation): string {
  const path = `/collections/${encodeURIComponent(collection.name)}`
  const records = `${path}/records`
  const address = { email: 'ann@example.com' }
  const calls: Readonly<Record<Operation, () => string>> = {
    list: () => get(apiUrl(records, { page: 1, perPage: 30, ...listOptions(collection) })),
    view: () => get(apiUrl(`${records}/${ID}`)),
    create: () => send('POST', records, sampleInput(collection, true)),
    update: () => send('PATCH', `${records}/${ID}`, firstOf(sampleInput(collection, false))),
    delete: () => `curl -X DELETE -H "Authorization: $TOKEN" ${quote(apiUrl(`${records}/${ID}`))}`,
    realtime: () =>
      `curl -N -H "Authorization: $TOKEN" ${quote(apiUrl('/realtime', { topic: `${collection.name}/*` }))}`,
    batch: () => send('POST', '/batch', { requests: [{ method: 'DELETE', url: `/api${records}/${ID}` }] }),
    password: () =>
      send('POST', `${path}/auth-with-password`, { identity: address.email, password: 'a long password' }),
    refresh: () => send('POST', `${path}/auth-refresh`, {}),
    otp: () => send('POST', `${path}/request-otp`, address),
    oauth2: () => get(apiUrl(`${path}/auth-methods`)),
    verification: () => send('POST', `${path}/request-verification`, address),
    reset: () => send('POST', `${path}/request-password-reset`, address),
    email: () => send('POST', `${path}/request-email-change`, { newEmail: 'new@example.com' }),
    methods: () => get(apiUrl(`${path}/auth-methods`)),
  }
  return calls[operation]()
}

function comparedField(collection: Collection): Field | undefined {
  const rankOf = (field: Field): number => kindOf(field).exampleRank ?? Infinity
  const ranked = shownTo(collection).filter((field) => rankOf(field) < Infinity)
  const [field] = ranked.toSorted((one, other) => rankOf(one) - rankOf(other))
  return field && { ...field, maxSelect: 1 }
}

function shownTo({ fields }: Collection): readonly Field[] {
  return fields.filter(({ system, hidden }) => !system && !hidden)
}

function listOptions(collection: Collection): {
  readonly filter?: string
  readonly sort: string
  readonly expand?: string
} {
  const compared = comparedField(collection)
  const relation = shownTo(collection).find((field) => kindOf(field).holds === 'records')
  const hasCreated = collection.fields.some(({ name }) => name === 'created')
  return {
    ...(compared !== undefined && {
      filter: `${compared.name} = ${JSON.stringify(kindOf(compared).sample(compared))}`,
    }),
    sort: hasCreated ? '-created' : 'id',
    ...(relation !== undefined && { expand: relation.name }),
  }
}

function filesNote({ fields }: Collection): string {
  const files = fields.filter((field) => kindOf(field).holds === 'files').map(({ name }) => name)
  return files.length === 0
    ? ''
    : `\n// Files are values too: ${files.map((name) => `${name}: new File([…], 'name')`).join(', ')}`
}

function firstOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).slice(0, 1))
}

/** A text of a value, as it is written in a program. */
function text(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
}

function get(url: string): string {
  return `curl -H "Authorization: $TOKEN" ${quote(url)}`
}

function send(method: string, path: string, body: unknown): string {
  const json = quote(JSON.stringify(body))
  return `curl -X ${method} -H "Authorization: $TOKEN" -H 'Content-Type: application/json' \\\n  -d ${json} ${quote(apiUrl(path))}`
}

/** A quoted value for a shell. */
function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}

function serverUrl(): string {
  return new URL('..', document.baseURI).href.replace(/\/$/, '')
}

/** The declarations of one collection, in the module that the server makes of all. */
export function typesOf(module: string, name: string): string | undefined {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
  const lines = module.split('\n')
  const start = lines.findIndex((line) => line === `  ${key}: {` || line === `  ${JSON.stringify(name)}: {`)
  if (start < 0) return undefined
  const end = lines.findIndex((line, at) => at > start && line === '  }')
  return lines
    .slice(start, end + 1)
    .map((line) => line.slice(2))
    .join('\n')
}
