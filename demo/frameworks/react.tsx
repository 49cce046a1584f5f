/** The page in React. */
import { memo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { liveSearch, useCount, useDocument, useDraft, useLiveQuery } from '@pannier/react'
import { add, db, openTasks, tasks, type Task } from './tasks.ts'

interface RowProps {
  readonly row: Task & { readonly _id: string }
  readonly select: (id: string) => void
}

/** A row that did not change is the same object, so it is not rendered again. */
const Row = memo(({ row, select }: RowProps) => (
  <li>
    <span onClick={() => select(row._id)}>{row.title}</span>
    <button onClick={() => void tasks.update(row._id, { done: true })}>Done</button>
  </li>
))

function Team() {
  const [person, setPerson] = useState('Ann')
  const [text, setText] = useState('')
  const [title, setTitle] = useState('')
  const [id, setId] = useState<string>()
  const { rows, status } = useLiveQuery(openTasks(person))
  const { count } = useCount(tasks.find({ done: false }))
  const found = useLiveQuery(liveSearch(db, tasks, text))
  const { document: task } = useDocument(tasks, id)
  const { draft, change } = useDraft(task, (fields, id) => tasks.update(id, fields))
  return (
    <>
      <select id="person" value={person} onChange={({ target }) => setPerson(target.value)}>
        <option>Ann</option>
        <option>Ben</option>
      </select>
      <p id="count">
        {count} open, {status}
      </p>
      <ul id="tasks">
        {rows.map((row) => (
          <Row key={row._id} row={row} select={setId} />
        ))}
      </ul>
      <input id="title" placeholder="New task" value={title} onChange={({ target }) => setTitle(target.value)} />
      <button id="add" onClick={() => void add(title, person).then(() => setTitle(''))}>
        Add
      </button>
      <input
        id="rename"
        placeholder="Select a task to rename it"
        value={draft?.title ?? ''}
        onChange={({ target }) => change({ title: target.value })}
      />
      <input id="search" placeholder="Search" value={text} onChange={({ target }) => setText(target.value)} />
      <p id="found">{found.rows.map((row) => row.title).join()}</p>
    </>
  )
}

createRoot(document.body.appendChild(document.createElement('main'))).render(<Team />)
