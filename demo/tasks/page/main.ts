/** The page of the team's tasks. All that it knows of the server is PocketBase's SDK. */
import PocketBase, { ClientResponseError } from 'pocketbase'
import type { ListResult, RecordModel } from 'pocketbase'
import { formatCount, formatDuration } from '../../shared/format.ts'
import { byId, create, setText } from '../../../tools/web/dom.ts'
import { LABELS, STATES } from '../definitions.ts'
import { QUESTIONS } from '../questions.ts'
import type { Question } from '../questions.ts'
import { addressOf, PASSWORD, VISITORS } from '../visitors.ts'
import type { Visitor } from '../visitors.ts'

const PER_PAGE = 30
const REPEATS = 9
const TYPING_MS = 150
const ORDERS: Readonly<Record<string, string>> = {
  'Newest first': '-created',
  'Due first': 'due',
  'By project': 'project.name,due',
  'By assignee': 'assignee.name,due',
}

const client = new PocketBase(location.origin)
client.afterSend = (response, data: unknown) => {
  setText(byId('request'), `${decodeURIComponent(response.url.replace(location.origin, '')).replaceAll('+', ' ')}`)
  return data
}

let page = 1
let pages = 1

for (const visitor of VISITORS) {
  const button = create('button', { type: 'button', 'aria-pressed': 'false' }, visitor.name)
  button.addEventListener('click', () => void become(visitor, button))
  byId('visitors').append(button)
}
fill('filter-state', ['', ...STATES], 'Any')
fill('filter-label', ['', ...LABELS], 'Any')
fill('filter-sort', Object.keys(ORDERS))
const answers = QUESTIONS.map(addQuestion)
byId('ask').addEventListener('click', () => void askAll())
byId('previous').addEventListener('click', () => void turn(-1))
byId('next').addEventListener('click', () => void turn(1))
byId('add').addEventListener('submit', (event) => {
  event.preventDefault()
  void attempt(add)
})
const CHOSEN = ['filter-state', 'filter-label', 'filter-project', 'filter-sort']
for (const id of CHOSEN)
  byId(id).addEventListener('change', () => {
    // Back leads to the filter before.
    history.pushState(null, '', addressOfFilter())
    void showFirst()
  })
addEventListener('popstate', () => {
  readFilter()
  void showFirst()
})
let typed: ReturnType<typeof setTimeout> | undefined
byId('filter-title').addEventListener('input', () => {
  clearTimeout(typed)
  typed = setTimeout(() => {
    history.replaceState(null, '', addressOfFilter())
    void showFirst()
  }, TYPING_MS)
})
byId('filters').addEventListener('submit', (event) => event.preventDefault())
readFilter()
await become(VISITORS[0], byId('visitors').querySelector('button')!)

/** Logs in, and shows what this person may see. */
async function become(visitor: Visitor, button: HTMLButtonElement): Promise<void> {
  await attempt(async () => {
    await client.collection('members').authWithPassword(addressOf(visitor.id), PASSWORD)
    for (const other of byId('visitors').children) other.setAttribute('aria-pressed', String(other === button))
    setText(byId('who'), `${visitor.name} ${visitor.about}.`)
    const projects = await client.collection('projects').getFullList({ sort: 'name' })
    fillProjects('filter-project', projects, 'Any')
    fillProjects(
      'add-project',
      projects.filter(({ archived }) => archived !== true),
    )
    for (const answer of answers) answer.clear()
    // What is typed meanwhile stays.
    readFilter(['filter-project'])
    await showFirst()
  })
}

/** The filter as it stands in the address. A project that this visitor does not see counts as any. */
function readFilter(ids: readonly string[] = ['filter-title', ...CHOSEN]): void {
  const given = new URLSearchParams(location.search)
  for (const id of ids) {
    const field = byId<HTMLInputElement | HTMLSelectElement>(id)
    const first = field instanceof HTMLSelectElement ? (field.options[0]?.value ?? '') : ''
    field.value = given.get(id.slice('filter-'.length)) ?? first
    if (field.value === '') field.value = first
  }
}

function addressOfFilter(): string {
  const entries = ['filter-title', ...CHOSEN].map((id): [string, string] => [id.slice('filter-'.length), value(id)])
  const given = new URLSearchParams(entries.filter(([, text]) => text !== ''))
  return `?${given}`
}

async function showFirst(): Promise<void> {
  page = 1
  await attempt(show)
}

async function turn(by: number): Promise<void> {
  page += by
  await attempt(show)
}

async function show(): Promise<void> {
  const started = performance.now()
  const list = await client.collection('tasks').getList(page, PER_PAGE, {
    filter: filterOf(),
    sort: ORDERS[value('filter-sort')]!,
    expand: 'project,assignee',
    requestKey: 'tasks',
  })
  showList(list, performance.now() - started)
}

/** As the fields of the form say. */
function filterOf(): string {
  const parts: string[] = []
  const add = (id: string, expression: string): void => {
    const given = value(id)
    if (given !== '') parts.push(client.filter(expression, { given }))
  }
  add('filter-title', 'title ~ {:given}')
  add('filter-state', 'state = {:given}')
  add('filter-label', 'labels:each ?= {:given}')
  add('filter-project', 'project = {:given}')
  return parts.join(' && ')
}

function showList({ items, totalItems, totalPages }: ListResult<RecordModel>, tookMs: number): void {
  pages = totalPages
  setText(byId('count'), totalItems === 1 ? '1 task' : `${formatCount(totalItems)} tasks`)
  setText(byId('time'), `that you may see, in ${formatDuration(tookMs)}`)
  setText(byId('page-number'), pages === 0 ? '' : `${formatCount(page)} of ${formatCount(pages)}`)
  byId<HTMLButtonElement>('previous').disabled = page <= 1
  byId<HTMLButtonElement>('next').disabled = page >= pages
  const rows = items.length > 0 ? items.map(rowOf) : [emptyRow()]
  byId('tasks').replaceChildren(...rows)
}

function rowOf(task: RecordModel): HTMLElement {
  const { project, assignee } = (task['expand'] ?? {}) as Record<string, RecordModel | undefined>
  const title = create('span', task['state'] === 'done' ? { class: 'done' } : {}, String(task['title']))
  const labels = (task['labels'] as string[]).map((label) => create('span', { class: 'label' }, label))
  const state = create('select', { 'aria-label': `State of ${String(task['title'])}` })
  for (const name of STATES) state.append(create('option', name === task['state'] ? { selected: '' } : {}, name))
  state.addEventListener('change', () => void attempt(() => change(task, { state: state.value })))
  const remove = create(
    'button',
    { type: 'button', class: 'quiet', 'aria-label': `Delete ${String(task['title'])}` },
    '✕',
  )
  remove.addEventListener('click', () => void attempt(() => erase(task)))
  return create(
    'tr',
    {},
    create('td', {}, title, ...labels),
    create('td', {}, String(project?.['name'] ?? '')),
    create('td', {}, String(assignee?.['name'] ?? '')),
    create('td', { class: 'due' }, String(task['due']).slice(0, 10)),
    create('td', {}, state),
    create('td', {}, remove),
  )
}

function emptyRow(): HTMLElement {
  return create('tr', {}, create('td', { class: 'empty', colspan: '6' }, 'No task that you may see is like that.'))
}

async function add(): Promise<void> {
  await client.collection('tasks').create({
    title: value('add-title'),
    project: value('add-project'),
    assignee: client.authStore.record!.id,
    state: 'open',
  })
  byId<HTMLInputElement>('add-title').value = ''
  page = 1
  await show()
}

async function change(task: RecordModel, fields: Readonly<Record<string, string>>): Promise<void> {
  await client.collection('tasks').update(task.id, fields)
  await show()
}

async function erase(task: RecordModel): Promise<void> {
  await client.collection('tasks').delete(task.id)
  await show()
}

/** Runs a change, and shows a refusal of the server in words. */
async function attempt(run: () => Promise<void>): Promise<void> {
  const refused = byId('refused')
  try {
    await run()
    refused.hidden = true
  } catch (error) {
    if (error instanceof ClientResponseError && error.isAbort) return
    refused.hidden = false
    refused.textContent = reasonOf(error)
    await show().catch(() => {})
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ClientResponseError)) return String(error)
  if (error.status === 0) return 'The server does not answer. Is npm start still running?'
  if (error.status === 404) return 'The rules do not let you do that: leads delete any task, others their own.'
  const fields = Object.entries(error.response['data'] ?? {}) as [string, { message?: string }][]
  return [error.response['message'], ...fields.map(([name, { message }]) => `${name}: ${message ?? ''}`)].join(' ')
}

interface ShownQuestion {
  ask(): Promise<void>
  clear(): void
}

function addQuestion(question: Question): ShownQuestion {
  const answer = create('span', { class: 'answer' })
  const took = create('span', { class: 'took' })
  const button = create(
    'button',
    { type: 'button', title: question.filter ?? question.sort ?? '' },
    create('span', {}, question.title),
    answer,
    create('span', { class: 'why' }, question.why),
    took,
  )
  const ask = async (): Promise<void> => {
    const first = await timed(question)
    const again = []
    for (let repeat = 0; repeat < REPEATS; repeat++) again.push((await timed(question)).ms)
    answer.textContent = formatCount(first.total)
    took.textContent = `${formatDuration(first.ms)} · ${formatDuration(again.toSorted((a, b) => a - b)[4]!)}`
  }
  button.addEventListener('click', () => void attempt(ask))
  byId('questions').append(create('li', {}, button))
  return { ask, clear: () => [answer, took].forEach((element) => element.replaceChildren()) }
}

async function timed({ filter, sort, page: at = 1, expand }: Question): Promise<{ ms: number; total: number }> {
  const started = performance.now()
  const { totalItems } = await client.collection('tasks').getList(at, PER_PAGE, {
    ...(filter !== undefined && { filter }),
    ...(sort !== undefined && { sort }),
    ...(expand !== undefined && { expand }),
    requestKey: null,
  })
  return { ms: performance.now() - started, total: totalItems }
}

async function askAll(): Promise<void> {
  const button = byId<HTMLButtonElement>('ask')
  button.disabled = true
  await attempt(async () => {
    for (const { ask } of answers) await ask()
  })
  button.disabled = false
}

function value(id: string): string {
  return byId<HTMLInputElement | HTMLSelectElement>(id).value
}

/** `none`: what the empty value is called. */
function fill(id: string, values: readonly string[], none = ''): void {
  byId(id).replaceChildren(...values.map((one) => create('option', { value: one }, one === '' ? none : one)))
}

function fillProjects(id: string, projects: readonly RecordModel[], none?: string): void {
  const options = projects.map((project) => create('option', { value: project.id }, String(project['name'])))
  byId(id).replaceChildren(...(none === undefined ? [] : [create('option', { value: '' }, none)]), ...options)
}
