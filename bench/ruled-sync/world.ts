/** The data of all contenders: projects with members, and tasks that members may see. Ids are the same everywhere. */
import { seededRandom } from '../../packages/db/testing/random.ts'

/** The project whose tasks are taken away at once. Anna is its only member. */
export const BIG_PROJECT = 0
/** Projects with `MEMBERS` members each, of which Anna is one in some. */
export const SMALL_PROJECTS = 1000
export const MEMBERS = 10
export const USERS: number = SMALL_PROJECTS * MEMBERS
/** She sees a tenth of the tasks: those of the big project, and those of `ANNAS_PROJECTS` small ones. */
export const ANNA: number = USERS
const ANNAS_PROJECTS = 50
export const ANNAS_PASSWORD = 'the password of Anna'

export const RULE = 'project.members.id ?= @request.auth.id'

const WORDS =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore'.split(
    ' ',
  )

/** An id of fifteen letters and digits, as PocketBase wants them. */
export function idOf(kind: 'user' | 'proj' | 'task', index: number): string {
  return `${kind}${String(index).padStart(11, '0')}`
}

export function emailOf(user: number): string {
  return `${idOf('user', user)}@example.com`
}

/** Small projects have `documents` tasks together, and the big one a twentieth of that. */
export class World {
  readonly documents: number

  constructor(documents: number) {
    this.documents = documents
  }

  get bigTasks(): number {
    return this.documents / 20
  }

  get tasks(): number {
    return this.documents + this.bigTasks
  }

  get visibleToAnna(): number {
    return this.bigTasks + (this.documents / SMALL_PROJECTS) * ANNAS_PROJECTS
  }

  get visibleToUser(): number {
    return this.documents / SMALL_PROJECTS
  }

  projectOf(task: number): number {
    return task < this.documents ? 1 + (task % SMALL_PROJECTS) : BIG_PROJECT
  }

  task(index: number): Record<string, unknown> {
    const random = seededRandom(index)
    const text = (words: number): string => Array.from({ length: words }, () => random.pick(WORDS)).join(' ')
    return {
      id: idOf('task', index),
      title: `task ${index} ${text(4)}`,
      description: text(30),
      done: index % 3 === 0,
      project: idOf('proj', this.projectOf(index)),
    }
  }
}

/** Some users, and Anna in some projects. */
export function membersOf(project: number): readonly string[] {
  const users = Array.from({ length: MEMBERS }, (_, nth) => idOf('user', (project - 1) * MEMBERS + nth))
  const anna = idOf('user', ANNA)
  if (project === BIG_PROJECT) return [anna]
  return project <= ANNAS_PROJECTS ? [...users, anna] : users
}

/** The small project that a user is a member of. */
export function projectOfUser(user: number): number {
  return 1 + Math.floor(user / MEMBERS)
}

export const COLLECTIONS: readonly object[] = [
  {
    id: 'benchprojects00',
    name: 'projects',
    type: 'base',
    listRule: 'members.id ?= @request.auth.id',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'members', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 100 },
    ],
  },
  {
    id: 'benchtasks00000',
    name: 'tasks',
    type: 'base',
    listRule: RULE,
    viewRule: RULE,
    updateRule: RULE,
    fields: [
      { name: 'title', type: 'text' },
      { name: 'description', type: 'text' },
      { name: 'done', type: 'bool' },
      { name: 'project', type: 'relation', collectionId: 'benchprojects00', maxSelect: 1 },
    ],
    indexes: ['CREATE INDEX tasks_project ON tasks (project)'],
  },
]

export const SETTINGS = {
  batch: { enabled: true, maxRequests: 500, timeout: 600 },
  rateLimits: { enabled: false },
  logs: { maxDays: 0 },
}
