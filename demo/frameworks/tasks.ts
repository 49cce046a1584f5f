/** The tasks of a team: the database of five pages with the same screens, each in another framework. */
import { open, type Collection, type Database, type Query } from 'pannier'

export interface Task {
  title: string
  person: string
  done: boolean
}

export const db: Database = await open('frameworks')
export const tasks: Collection<Task> = db.collection<Task>('tasks', {
  indexes: ['person', { on: ['title'], text: true }],
})

export function openTasks(person: string): Query<Task & { readonly _id: string; readonly _rev: string }> {
  return tasks.find({ person, done: false }).sort('title')
}

export async function add(title: string, person: string): Promise<void> {
  await tasks.insert({ title, person, done: false })
}
