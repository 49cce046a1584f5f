/** A page for react.wired.browser.ts: components on a database that tabs share. */
import { createElement, Fragment, StrictMode, useEffect, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, type Root } from 'react-dom/client'
import { open, type Collection, type Database, type LiveCount, type LiveQuery, type Query } from 'pannier'
import { connect, type Client, type UntypedCollections } from '@pannier/client'
import { useCan, useCount, useDocument, useDraft, useLiveQuery, useRejected, useSync } from '../../src/index.ts'

interface Person {
  readonly name: string
  readonly city: string
}

export interface ReactTab {
  open(name: string): Promise<void>
  put(id: string, name: string, city: string): Promise<void>
  remove(id: string): Promise<void>
  /** Renders the people of a city, and one document; undefined: of none yet. */
  show(city: string | undefined, id?: string): void
  /** Renders the people of a city by a live query that is at work already, and how many they are. */
  showStarted(city: string): Promise<void>
  /** Renders the first `count` people, and keeps what each render shows. */
  showFirst(count: number): void
  /** What the renders of `showFirst` have shown since the last call: how many rows, and whether they are those of the query before. */
  seen(): readonly string[]
  /** The status of these two. */
  started(): readonly string[]
  /** Renders how a client's sync is, and what was refused. The server refuses all writes. */
  showClient(name: string): Promise<void>
  /** Writes by it. */
  create(title: string): Promise<void>
  /** Sends and pulls. */
  sync(): Promise<void>
  /** Discards what was refused. */
  discard(): Promise<void>
  /** Renders whether a task of this title may be made. `isAdmitted`: what the rules say from the next pull on. */
  showCan(title: string, isAdmitted: boolean): void
  /** Signs in, and out again, while two components show the tasks; gives what they have shown, and what was thrown. */
  changeAccount(): Promise<{ readonly shown: string; readonly thrown: readonly string[] }>
  /** Renders an input for the name of a person, whose document comes back `lateMs` late. */
  showForm(id: string, lateMs: number): void
  /** Types it, letter by letter, and gives what the input has then. */
  type(text: string): Promise<string>
  unmount(): void
  close(): Promise<void>
  /** What is shown, once it is what is expected; else what it is after a while. */
  text(expected: string): Promise<string>
  /** How often the list has been rendered, and rows of it. */
  renders(): { readonly list: number; readonly rows: readonly string[] }
  /** Live queries that were started, and those of them that are at work. */
  queries(): { readonly started: number; readonly live: number }
  /** How often two components that show the same have differed on the screen, when both had their rows. */
  torn(): number
}

declare global {
  var reactTab: ReactTab
}

const WAIT_MS_MAX = 60_000

let db: Database
let people: Collection<Person>
let root: Root | undefined
let listRenders = 0
let rowRenders: string[] = []
let tornCommits = 0
let statesSeen: string[] = []
let shownRows: LiveQuery<Person> | undefined
let shownSize: LiveCount | undefined
const started: LiveQuery<object>[] = []

/** Keeps what is started, to see whether it ends. */
function watched<Row extends object, Document extends object>(query: Query<Row, Document>): Query<Row, Document> {
  const start = query.live.bind(query)
  query.live = (options) => {
    const live = start(options)
    started.push(live)
    return live
  }
  return query
}

function Row({ person }: { readonly person: Person }): ReactNode {
  // Memory of the object: it is the same while nothing has changed.
  const [, setSeen] = useState<Person>()
  useEffect(() => {
    setSeen(person)
    rowRenders.push(person.name)
  }, [person])
  return createElement('li', null, person.name)
}

function List({ city }: { readonly city: string | undefined }): ReactNode {
  const { rows, status, isPrevious } = useLiveQuery(
    city === undefined ? undefined : watched(people.find({ city }).sort('name').limit(3)),
  )
  useEffect(() => void listRenders++, [rows, status])
  return createElement(
    Fragment,
    null,
    createElement('p', null, `${status} ${rows.length}`),
    createElement(
      'ul',
      { 'aria-busy': isPrevious },
      ...rows.map((person) => createElement(Row, { key: person._id, person })),
    ),
  )
}

function Names({ city }: { readonly city: string | undefined }): ReactNode {
  const { rows, isPrevious } = useLiveQuery(
    () => (city === undefined ? undefined : watched(people.find({ city }).sort('name').limit(3).fields('name'))),
    [city],
  )
  useEffect(() => {
    // First rows of a query are read when they are, those of another one perhaps before them.
    if (isPrevious || document.querySelector('ul')?.ariaBusy === 'true') return
    const shown = Array.from(document.querySelectorAll('li'), ({ textContent }) => textContent)
    if (rows.length > 0 && shown.length > 0 && shown.join() !== rows.map(({ name }) => name).join()) tornCommits++
  })
  return createElement('p', { id: 'names' }, rows.map(({ name }) => name).join())
}

function Started({ rows, size }: { readonly rows: LiveQuery<Person>; readonly size: LiveCount }): ReactNode {
  const list = useLiveQuery(rows)
  const { count, status } = useCount(size)
  // Asked for in each render, and one query all the same.
  const { count: all } = useCount(people.find())
  statesSeen.push(list.status)
  return createElement(
    'p',
    null,
    [list.status, list.rows.map(({ name }) => name).join(), status, count, all ?? '?'].join(' '),
  )
}

let seenRenders: string[] = []

function First({ count }: { readonly count: number }): ReactNode {
  const { rows, isPrevious, status } = useLiveQuery(people.find().sort('name').limit(count))
  useEffect(() => void seenRenders.push(`${rows.length}${isPrevious ? ' previous' : ''}`))
  return createElement('p', null, `${status} ${rows.length}${isPrevious ? ' previous' : ''}`)
}

function One({ id }: { readonly id: string | undefined }): ReactNode {
  const { document: person, status } = useDocument(people, id)
  return createElement('p', null, `${status}: ${person?.name ?? 'nobody'}`)
}

let client: Client<UntypedCollections>

function Sync(): ReactNode {
  const { unsent, isComplete } = useSync(client)
  const rejected = useRejected(client)
  const refused = rejected.map(({ message, writes }) => `${message} ${String(writes[0]?.mine['title'])}`)
  return createElement('p', null, [isComplete ? 'complete' : 'loading', unsent, ...refused].join(' '))
}

function Can({ title }: { readonly title: string }): ReactNode {
  canRenders++
  // Asked for in each render, and one question all the same.
  return createElement(
    'p',
    null,
    `${title}: ${String(useCan(client, 'create', 'tasks', { title }))} ${canRenders > 40 ? 'often' : ''}`,
  )
}

function Tasks(): ReactNode {
  const { account } = useSync(client)
  const direct = useLiveQuery(client.collection('tasks').find())
  const made = useLiveQuery(() => client.collection('tasks').find(), [])
  return createElement('p', null, [account?.id ?? 'guest', direct.status, made.status, made.rows.length].join(' '))
}

function Form({ id, lateMs }: { readonly id: string; readonly lateMs: number }): ReactNode {
  const { document: person } = useDocument(people, id)
  const [late, setLate] = useState<typeof person>()
  useEffect(() => void setTimeout(() => setLate(person), lateMs), [person, lateMs])
  const { draft, change, status } = useDraft(late, ({ name = '' }) => put(id, name))
  return createElement(
    Fragment,
    null,
    createElement('input', {
      value: draft?.name ?? '',
      onChange: ({ target }: { readonly target: HTMLInputElement }) => change({ name: target.value }),
    }),
    createElement('p', null, `${status} ${late?.name ?? ''}`),
  )
}

async function put(_id: string, name: string): Promise<void> {
  await people.upsert({ _id, name, city: 'Oslo' })
}

let canRenders = 0
let createRule: string | null = "title = 'Roof'"

/** A server that has nothing, and refuses all. */
function refuse(
  path: string,
  { transactions = [] }: { readonly transactions?: readonly { readonly n: number }[] },
): object {
  if (path.endsWith('/pull'))
    return {
      boot: 'b',
      covered: [],
      unknown: [],
      forgotten: 0,
      rules: {
        version: String(createRule),
        account: null,
        collections: [
          {
            id: 't',
            name: 'tasks',
            fields: [{ name: 'title', type: 'text' }],
            isOpen: true,
            rules: { create: createRule, update: '', delete: '' },
          },
        ],
      },
      collections: { tasks: { rows: [{ end: 'm' }], token: 't', isComplete: true, isReset: true } },
    }
  const outcomes = transactions.map(({ n }) => ({
    n,
    status: 'rejected',
    at: 0,
    code: 'INVALID',
    message: 'No',
    current: null,
  }))
  return { boot: 'b', outcomes }
}

globalThis.reactTab = {
  async open(name) {
    db = await open(name)
    people = db.collection<Person>('people', { indexes: ['city'] })
  },
  async put(_id, name, city) {
    await people.upsert({ _id, name, city })
  },
  async remove(id) {
    await people.delete(id)
  },
  show(city, id) {
    root ??= createRoot(document.body.appendChild(document.createElement('div')))
    const list = createElement(List, { city })
    const app = createElement(StrictMode, null, list, createElement(Names, { city }), createElement(One, { id }))
    flushSync(() => root!.render(app))
  },
  async showClient(name) {
    const { fetch } = globalThis
    // What drives the page fetches too.
    globalThis.fetch = async (url, init) => {
      if (typeof url !== 'string' || !url.startsWith('https://app.test/')) return fetch(url, init)
      if (url.includes('auth-with-password'))
        return Response.json({ token: 'e.e30.e', record: { id: 'ann', collectionId: 'u', collectionName: 'users' } })
      if (init?.body === undefined) return Response.json({})
      return Response.json(refuse(url, JSON.parse(init!.body as string) as { transactions?: { n: number }[] }))
    }
    client = await connect('https://app.test', { name, collections: ['tasks'], live: false })
    root ??= createRoot(document.body.appendChild(document.createElement('div')))
    flushSync(() => root!.render(createElement(StrictMode, null, createElement(Sync))))
  },
  async create(title) {
    await client.collection('tasks').create({ title })
  },
  async sync() {
    await client.sync()
  },
  async discard() {
    for (const rejected of await client.rejected()) await rejected.discard()
  },
  async changeAccount() {
    const thrown: string[] = []
    root?.unmount()
    root = createRoot(document.body.appendChild(document.createElement('div')), {
      onUncaughtError: (error) => thrown.push(String(error)),
    })
    flushSync(() => root!.render(createElement(Tasks)))
    await this.text('guest live live 0')
    await client.signIn.password('users', 'ann', 'ann')
    await client.collection('tasks').create({ title: 'Roof' })
    const shown = [await this.text('ann live live 1')]
    await client.signOut({ data: 'wipe', discard: true })
    shown.push(await this.text('guest live live 0'))
    return { shown: shown.join(', '), thrown }
  },
  showForm(id, lateMs) {
    root ??= createRoot(document.body.appendChild(document.createElement('div')))
    flushSync(() => root!.render(createElement(StrictMode, null, createElement(Form, { id, lateMs }))))
  },
  async type(text) {
    const input = document.querySelector('input')!
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!
    for (const letter of text) {
      // As a browser does: at the end of what is shown.
      set!.call(input, input.value + letter)
      input.dispatchEvent(new Event('input', { bubbles: true }))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return input.value
  },
  showCan(title, isAdmitted) {
    createRule = isAdmitted ? '' : "title = 'Roof'"
    flushSync(() => root!.render(createElement(StrictMode, null, createElement(Can, { title }))))
  },
  async showStarted(city) {
    shownRows = people.find({ city }).sort('name').live()
    shownSize = people.find({ city }).liveCount()
    await Promise.all([shownRows.ready, shownSize.ready])
    statesSeen = []
    root ??= createRoot(document.body.appendChild(document.createElement('div')))
    const app = createElement(StrictMode, null, createElement(Started, { rows: shownRows, size: shownSize }))
    flushSync(() => root!.render(app))
  },
  showFirst(count) {
    root ??= createRoot(document.body.appendChild(document.createElement('div')))
    flushSync(() => root!.render(createElement(First, { count })))
  },
  seen() {
    const seen = seenRenders
    seenRenders = []
    return seen
  },
  started: () => [statesSeen[0]!, shownRows!.status, shownSize!.status],
  unmount() {
    root?.unmount()
    root = undefined
  },
  async close() {
    await db.close()
  },
  async text(expected) {
    const shown = (): string =>
      Array.from(document.querySelectorAll('p, li'), ({ textContent }) => textContent).join('|')
    const deadline = performance.now() + WAIT_MS_MAX
    while (shown() !== expected && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
    return shown()
  },
  renders() {
    const counts = { list: listRenders, rows: rowRenders }
    listRenders = 0
    rowRenders = []
    return counts
  },
  queries: () => ({
    started: started.length,
    live: started.filter(({ status }) => status === 'live' || status === 'loading').length,
  }),
  torn: () => tornCommits,
}
