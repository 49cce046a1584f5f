/** A page for devtools.browser.ts: an app with a database, live queries and a conflict, and devtools on it. */
import { open, type Collection, type Database } from 'pannier'
import { connect, type Client, type UntypedCollections } from '@pannier/client'
import { offerDevtools, type OfferedDevtools } from '../../src/index.ts'
import type { PannierDevtools } from '../../src/element.ts'

export interface DevtoolsTab {
  /** Opens the database and fills it, if it is empty. */
  start(name: string, people: number): Promise<void>
  open(theme?: 'light' | 'dark'): Promise<void>
  /** Signs in at a server that refuses what is written, and writes. Before `open`. */
  startClient(name: string): Promise<void>
  /** The token of the client. */
  token(): string
  toggle(): Promise<void>
  /** The text of the whole of devtools, once it has what is expected; else what it is after a while. */
  text(expected: string): Promise<string>
  /** Presses the first button or tab that has exactly this text, once there is one. */
  press(text: string): Promise<void>
  /** Types into the first field of this label. */
  type(label: string, text: string): Promise<void>
  put(id: string, fields: object): Promise<void>
  get(id: string): Promise<object | undefined>
  /** Makes two versions of a document. */
  conflict(id: string): Promise<void>
  /** The longest time that the app had to wait for the thread, while `commits` commits came. */
  longestWaitMs(commits: number): Promise<number>
  /** Keys that the app has heard. */
  heard(): readonly string[]
  /** The name of what has the focus in devtools. */
  focused(): string
  isOpen(): boolean
  height(): number
  close(): Promise<void>
}

declare global {
  var devtoolsTab: DevtoolsTab
}

const WAIT_MS_MAX = 30_000
const CITIES = ['Oslo', 'Rome', 'Lima', 'Kyoto', 'Accra']

let db: Database
let people: Collection<Record<string, unknown>>
let devtools: OfferedDevtools
let client: Client<UntypedCollections>
const heard: string[] = []
addEventListener('keydown', ({ key }) => heard.push(key))

function element(): PannierDevtools {
  return document.querySelector('pannier-devtools')!
}

function root(): ShadowRoot {
  return element().shadowRoot!
}

async function found<T>(find: () => T | undefined | null): Promise<T> {
  for (const end = performance.now() + WAIT_MS_MAX; performance.now() < end;) {
    const one = find()
    if (one !== undefined && one !== null) return one
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  throw new Error(`Nothing was found in: ${root().textContent}`)
}

const CLAIMS = btoa(JSON.stringify({ exp: 2_000_000_000, collectionId: 'users' }))
const TOKEN = `head.${CLAIMS}.c2lnbmF0dXJl`
const FIELDS = [
  { name: 'title', type: 'text' },
  { name: 'hours', type: 'number' },
  { name: 'done', type: 'bool' },
]

/** A server that has nothing, and refuses what is written: somebody else has it already. */
function answer(
  path: string,
  { transactions = [] }: { readonly transactions?: readonly { readonly n: number }[] },
): object {
  if (path.includes('auth-with-password'))
    return { token: TOKEN, record: { id: 'ann', email: 'ann@example.org', collectionId: 'u', collectionName: 'users' } }
  if (path.endsWith('/pull')) {
    const rules = { create: '', update: '', delete: '' }
    return {
      boot: 'b',
      covered: [],
      unknown: [],
      forgotten: 0,
      rules: {
        version: '1',
        account: null,
        collections: [{ id: 't', name: 'tasks', fields: FIELDS, isOpen: true, rules }],
      },
      collections: { tasks: { rows: [{ end: 'm' }], token: 't', isComplete: true, isReset: true } },
    }
  }
  const current = { id: 'roof00000000000', title: 'Mend the gutter', hours: 8, done: true, $rev: '2' }
  const outcomes = transactions.map(({ n }) => ({
    n,
    status: 'rejected',
    at: 0,
    code: 'CONFLICT',
    message: 'Others have changed the record.',
    current,
  }))
  return { boot: 'b', outcomes }
}

/** Where the parts of a button begin is of no matter. */
function bare(text: string): string {
  return text.replace(/\s+/g, '')
}

globalThis.devtoolsTab = {
  async start(name, count) {
    db = await open(name)
    people = db.collection('people', { indexes: ['city', 'age'] })
    if ((await people.find().count()) === 0) {
      const person = (_: unknown, at: number): Record<string, unknown> => ({
        _id: `person-${String(at).padStart(5, '0')}`,
        name: `Person ${at}`,
        city: CITIES[at % CITIES.length],
        age: 18 + (at % 60),
        tags: ['staff'],
      })
      await people.insert(Array.from({ length: count }, person))
      await db.collection('notes').insert([
        { _id: 'a', text: 'Buy oat milk' },
        { _id: 'b', text: 'Call Ann' },
      ])
    }
    await people
      .find({ city: 'Oslo', age: { $gte: 30 } })
      .sort('name')
      .limit(20)
      .live().ready
    await people.find({ age: { $lt: 20 } }).liveCount().ready
    devtools = offerDevtools({ databases: [db] })
  },
  async open(theme) {
    await devtools.open()
    if (theme !== undefined) element().setAttribute('theme', theme)
  },
  async startClient(name) {
    const { fetch } = globalThis
    globalThis.fetch = async (url, init) => {
      // What drives the page fetches too.
      if (typeof url !== 'string' || !url.startsWith('https://app.test/')) return fetch(url, init)
      return Response.json(answer(url, JSON.parse((init?.body as string | undefined) ?? '{}') as object))
    }
    client = await connect('https://app.test', { name, collections: ['tasks'], live: false })
    devtools.end()
    devtools = offerDevtools({ databases: [db], clients: [client] })
    await devtools.open()
    await client.signIn.password('users', 'ann@example.org', 'secret')
    const tasks = client.collection('tasks')
    await tasks.create({ id: 'roof00000000000', title: 'Mend the roof', hours: 3, done: false })
    await client.sync()
    await tasks.create({ id: 'paint0000000000', title: 'Paint the wall' })
  },
  token: () => client.token!,
  toggle: () => devtools.toggle(),
  async text(expected) {
    let last = ''
    for (const end = performance.now() + WAIT_MS_MAX; performance.now() < end;) {
      const fields = [...root().querySelectorAll('textarea')].map(({ value }) => value)
      last = [root().textContent, ...fields].join(' ').replace(/\s+/g, ' ')
      if (last.includes(expected)) break
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    return last
  },
  async press(text) {
    const wanted = bare(text)
    const button = await found(() =>
      [...root().querySelectorAll('button')].find(
        (one) => !one.disabled && [one.textContent, one.ariaLabel ?? ''].map(bare).includes(wanted),
      ),
    )
    button.focus()
    button.click()
  },
  async type(label, text) {
    const field = await found(() => root().querySelector<HTMLInputElement>(`[aria-label='${label}']`))
    field.focus()
    field.value = text
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    field.dispatchEvent(new Event('change', { bubbles: true }))
  },
  async put(_id, fields) {
    await people.upsert({ _id, ...fields })
  },
  get: (id) => people.get(id),
  async conflict(_id) {
    const { _rev } = (await people.get(_id))!
    const [start, id] = [Number.parseInt(_rev, 10), _rev.split('-')[1]!]
    for (const [letter, name, city] of [
      ['b', 'Ann Berg', 'Oslo'],
      ['c', 'Ann Dahl', 'Bergen'],
    ] as const) {
      const suffix = letter.repeat(32)
      const _revisions = { start: start + 1, ids: [suffix, id] }
      await people.put({ _id, _rev: `${start + 1}-${suffix}`, _revisions, name, city, age: 31 }, { newEdits: false })
    }
  },
  async longestWaitMs(commits) {
    let longest = 0
    let isOver = false
    const watch = async (): Promise<void> => {
      while (!isOver) {
        const start = performance.now()
        await new Promise((resolve) => setTimeout(resolve, 0))
        longest = Math.max(longest, performance.now() - start)
      }
    }
    const watching = watch()
    for (let at = 0; at < commits; at++) await people.upsert({ _id: 'busy', at })
    await new Promise((resolve) => setTimeout(resolve, 500))
    isOver = true
    await watching
    return longest
  },
  heard: () => heard,
  focused() {
    const focused = root().activeElement
    return focused?.ariaLabel ?? focused?.textContent?.trim() ?? ''
  },
  isOpen: () => document.querySelector('pannier-devtools') !== null,
  height: () => root().querySelector('.dock')!.getBoundingClientRect().height,
  async close() {
    await db.close()
  },
}
