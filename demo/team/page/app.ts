/** The application's collections, and the client of the person who uses this window. */
import { connect, type Client } from '@pannier/client'
import { addressOf, PASSWORD, type Visitor } from '../../tasks/visitors.ts'

export interface Project {
  readonly id: string
  readonly name: string
  readonly members: readonly string[]
}

export interface Task {
  readonly id: string
  readonly title: string
  readonly project: string
  readonly assignee: string
  readonly state: string
  /** The time of creation; undefined until the server has it. */
  readonly created?: string
}

export interface Member {
  readonly id: string
  readonly name: string
  readonly role: string
}

interface Writable<T> {
  readonly record: T
  readonly create: Partial<T>
  readonly update: Partial<T>
}

export interface Team {
  readonly projects: Writable<Project>
  readonly tasks: Writable<Task>
  readonly members: Writable<Member>
}

export type App = Client<Team>

/** Opens the person's database. It is there without a network from the second time on. */
export async function openApp(person: Visitor): Promise<App> {
  const app = await connect<Team>(location.origin, {
    // Several people use one browser here.
    name: `team-${person.id}`,
    collections: { projects: {}, members: {}, tasks: { indexes: ['project'] } },
  })
  if (app.account === undefined) await app.signIn.password('members', addressOf(person.id), PASSWORD)
  return app
}
