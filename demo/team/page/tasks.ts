/** The tasks of the chosen project. */
import { byId, create, setText } from '../../../tools/web/dom.ts'
import { formatCount } from '../../shared/format.ts'
import { STATES } from '../../tasks/definitions.ts'
import type { App, Task } from './app.ts'
import { List, type RowView } from './list.ts'

const SHOWN = 60

/** The content of a row. */
interface Row {
  readonly task: Task
  readonly assignee: string
}

export class Tasks {
  readonly #app: App
  readonly #attempt: (write: () => PromiseLike<unknown>) => void
  readonly #list: List<Row>

  constructor(app: App, attempt: (write: () => PromiseLike<unknown>) => void) {
    this.#app = app
    this.#attempt = attempt
    this.#list = new List(byId('tasks'), () => this.#row())
  }

  /** `nameOf`: the name of a member. */
  show(tasks: readonly Task[], nameOf: (member: string) => string): void {
    // New ones have no date until the server has them.
    const sorted = tasks.toSorted((one, other) => compare(dateOf(other), dateOf(one)) || compare(one.id, other.id))
    this.#list.show(sorted.slice(0, SHOWN).map((task) => [task.id, { task, assignee: nameOf(task.assignee) }]))
    const all = tasks.length === 1 ? '1 task' : `${formatCount(tasks.length)} tasks`
    setText(byId('count'), tasks.length > SHOWN ? `${all}, the newest ${SHOWN}` : all)
  }

  #row(): RowView<Row> {
    const tasks = this.#app.collection('tasks')
    let shown: Task | undefined
    const title = create('input', { 'aria-label': 'Title', maxlength: '120', class: 'title' })
    const state = create('select', { 'aria-label': 'State' }, ...STATES.map((name) => create('option', {}, name)))
    const assignee = create('span', { class: 'note' })
    const remove = create('button', { type: 'button', class: 'quiet', 'aria-label': 'Delete' }, '✕')
    title.addEventListener('change', () => this.#attempt(() => tasks.update(shown!.id, { title: title.value })))
    state.addEventListener('change', () => this.#attempt(() => tasks.update(shown!.id, { state: state.value })))
    remove.addEventListener('click', () => this.#attempt(() => tasks.delete(shown!.id)))
    const element = create('li', {}, title, assignee, state, remove)
    return {
      element,
      show: ({ task, assignee: name }) => {
        shown = task
        element.dataset['task'] = task.id
        if (document.activeElement !== title) title.value = task.title
        title.classList.toggle('done', task.state === 'done')
        state.value = task.state
        setText(assignee, name)
      },
    }
  }
}

/** After all dates, for a task that the server has not dated. */
function dateOf({ created }: Task): string {
  return created ?? '9'
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
