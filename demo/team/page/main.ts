/** The page of a team that works offline. Each window is one person, with a copy of what the rules allow that person. */
import { byId, create, setText } from '../../../tools/web/dom.ts'
import { formatCount } from '../../shared/format.ts'
import { VISITORS } from '../../tasks/visitors.ts'
import { openApp, type Member, type Project, type Task } from './app.ts'
import { List } from './list.ts'
import { Members } from './members.ts'
import { Network } from './network.ts'
import { showRefused } from './refused.ts'
import { Tasks } from './tasks.ts'

const [ann, ben, cleo] = VISITORS
const keyOf = (name: string): string => name.toLowerCase()
const wanted = new URLSearchParams(location.search).get('as')
const person = VISITORS.find(({ name }) => keyOf(name) === wanted) ?? ann
const other = person === ann ? ben! : ann

setText(byId('person'), `${person.name} ${person.about}`)
document.title = `${person.name}: a team, offline`
for (const one of [ann, ben!, cleo!]) {
  const current = one === person ? { 'aria-current': 'page' } : {}
  byId('people').append(create('a', { href: `?as=${keyOf(one.name)}`, ...current }, one.name))
}
const link = byId<HTMLAnchorElement>('other')
link.href = `?as=${keyOf(other.name)}`
setText(link, `Open a window for ${other.name}.`)

const network = new Network(`team-network-${person.id}`)
const toggle = byId<HTMLInputElement>('online')
toggle.checked = network.isOnline
toggle.addEventListener('change', () => {
  network.isOnline = toggle.checked
})

const app = await openApp(person).catch((error: unknown) => {
  setText(byId('status'), 'The first start needs the server. Switch this window to online, and load it again.')
  throw error
})
const tasks = new Tasks(app, attempt)
const members = new Members(app, attempt)
const projects = new List<{ project: Project; isChosen: boolean }>(byId('projects'), () => {
  let shown: Project | undefined
  const button = create('button', { type: 'button' })
  button.addEventListener('click', () => choose(shown!.id))
  return {
    element: create('li', {}, button),
    show: ({ project, isChosen }) => {
      shown = project
      setText(button, project.name)
      button.setAttribute('aria-pressed', String(isChosen))
    },
  }
})

let chosen: string | undefined
let known: { projects: readonly Project[]; members: readonly Member[]; tasks: readonly Task[] } = {
  projects: [],
  members: [],
  tasks: [],
}
let stopTasks: () => void = () => {}

app
  .collection('projects')
  .find()
  .sort('name')
  .live()
  .subscribe(({ rows }) => {
    const gone = known.projects.filter((one) => !rows.some(({ id }) => id === one.id))
    if (gone.length > 0) setText(byId('gone'), `${listed(gone)} left this device: you are no member any more.`)
    byId('gone').hidden = gone.length === 0
    known = { ...known, projects: rows }
    if (!rows.some(({ id }) => id === chosen)) choose(rows[0]?.id)
    else show()
  })
app
  .collection('members')
  .find()
  .sort('name')
  .live()
  .subscribe(({ rows }) => {
    known = { ...known, members: rows }
    show()
  })
app.subscribeState(() => {
  showStatus()
  if (chosen === undefined) show()
})
byId('add').addEventListener('submit', (event) => {
  event.preventDefault()
  attempt(add)
})
showStatus()

/** Shows the tasks of another project. */
function choose(project: string | undefined): void {
  chosen = project
  stopTasks()
  known = { ...known, tasks: [] }
  show()
  if (project === undefined) return
  const live = app.collection('tasks').find({ project }).live()
  live.subscribe(({ rows }) => {
    known = { ...known, tasks: rows }
    show()
  })
  stopTasks = () => live.close()
}

function show(): void {
  const project = known.projects.find(({ id }) => id === chosen)
  const names = new Map(known.members.map(({ id, name }) => [id, name]))
  projects.show(known.projects.map((one) => [one.id, { project: one, isChosen: one.id === chosen }]))
  const none = app.state.isComplete ? 'No project is yours' : 'Projects are coming …'
  setText(byId('project-title'), project?.name ?? none)
  byId('add').hidden = project === undefined
  tasks.show(known.tasks, (id) => names.get(id) ?? '')
  byId('count').hidden = project === undefined
  members.show(project, known.members)
}

async function add(): Promise<void> {
  const title = byId<HTMLInputElement>('add-title')
  await app.collection('tasks').create({
    title: title.value,
    project: chosen!,
    assignee: app.account!.id,
    state: 'open',
  })
  title.value = ''
}

/** The name of a project; empty for one that this device does not have. */
function projectOf(project: unknown): string {
  return known.projects.find(({ id }) => id === project)?.name ?? ''
}

function listed(gone: readonly Project[]): string {
  return new Intl.ListFormat('en').format(gone.map(({ name }) => name))
}

/** Runs a write, and shows in words why this device can't write it. */
function attempt(write: () => PromiseLike<unknown>): void {
  Promise.resolve(write()).catch((error: unknown) => {
    setText(byId('status'), error instanceof Error ? error.message : String(error))
  })
}

function showStatus(): void {
  const { status, unsent, received, isComplete, rejected, error } = app.state
  const waiting = unsent === 0 ? '' : `${formatCount(unsent)} ${unsent === 1 ? 'change waits' : 'changes wait'}.`
  const words = {
    offline: `Offline. ${waiting}`,
    synced: rejected === 0 ? 'Everything is saved.' : 'Everything is saved, but what the server refused.',
    failed: `Sync fails: ${error?.message ?? ''}`,
    signedOut: 'The session has ended. Load the page again.',
  }[status as string]
  const receiving = isComplete ? waiting || 'Syncing…' : `Receiving: ${formatCount(received)} records`
  setText(byId('status'), words ?? receiving)
  byId('status').dataset['status'] = status
  void app.rejected().then((refused) => showRefused(refused, { attempt, projectOf }))
}
