/** The page in Solid, without a compiler: tagged templates in place of JSX. */
import { createSignal, For } from 'solid-js'
import html from 'solid-js/html'
import { render } from 'solid-js/web'
import { createCount, createDocument, createDraft, createLiveQuery, liveSearch } from '@pannier/solid'
import { add, db, openTasks, tasks, type Task } from './tasks.ts'

interface Typed {
  readonly target: HTMLInputElement
}

function Team() {
  const [person, setPerson] = createSignal('Ann')
  const [text, setText] = createSignal('')
  const [title, setTitle] = createSignal('')
  const [id, setId] = createSignal<string>()
  const list = createLiveQuery(() => openTasks(person()))
  const open = createCount(tasks.find({ done: false }))
  const found = createLiveQuery(() => liveSearch(db, tasks, text()))
  const task = createDocument(tasks, id)
  const form = createDraft(
    () => task.document,
    (fields, id) => tasks.update(id, fields),
  )
  const addTask = (): void => void add(title(), person()).then(() => setTitle(''))
  const row = (one: Task & { readonly _id: string }) => html`
    <li>
      <span onClick=${() => setId(one._id)}>${one.title}</span>
      <button onClick=${() => void tasks.update(one._id, { done: true })}>Done</button>
    </li>
  `
  return html`
    <select id="person" onInput=${({ target }: Typed) => setPerson(target.value)}>
      <option>Ann</option>
      <option>Ben</option>
    </select>
    <p id="count">${() => open.count} open, ${() => list.status}</p>
    <ul id="tasks">
      <${For} each=${() => list.rows}>${row}<//>
    </ul>
    <input id="title" placeholder="New task" prop:value=${title} onInput=${({ target }: Typed) => setTitle(target.value)} />
    <button id="add" onClick=${addTask}>Add</button>
    <input
      id="rename" placeholder="Select a task to rename it"
      prop:value=${() => form.draft?.title ?? ''}
      onInput=${({ target }: Typed) => form.change({ title: target.value })}
    />
    <input id="search" placeholder="Search" onInput=${({ target }: Typed) => setText(target.value)} />
    <p id="found">${() => found.rows.map((one) => one.title).join()}</p>
  `
}

render(Team as never, document.body.appendChild(document.createElement('main')))
