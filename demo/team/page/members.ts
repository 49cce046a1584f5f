/** For those who lead the team: who is in the project. */
import { byId, create, setText } from '../../../tools/web/dom.ts'
import type { App, Member, Project } from './app.ts'
import { List, type RowView } from './list.ts'

const ROLES = ['member', 'lead']

interface Row {
  readonly member: Member
  readonly isIn: boolean
}

export class Members {
  readonly #app: App
  readonly #attempt: (write: () => PromiseLike<unknown>) => void
  readonly #list: List<Row>
  #project: Project | undefined

  constructor(app: App, attempt: (write: () => PromiseLike<unknown>) => void) {
    this.#app = app
    this.#attempt = attempt
    this.#list = new List(byId('members'), () => this.#row())
  }

  show(project: Project | undefined, members: readonly Member[]): void {
    this.#project = project
    const isLead = members.some(({ id, role }) => id === this.#app.account?.id && role === 'lead')
    byId('lead').hidden = !isLead || project === undefined
    this.#list.show(
      members.map((member) => [member.id, { member, isIn: project?.members.includes(member.id) === true }]),
    )
  }

  #row(): RowView<Row> {
    let shown: Member | undefined
    const check = create('input', { type: 'checkbox' })
    const name = create('span')
    const role = create('select', { 'aria-label': 'Role' }, ...ROLES.map((one) => create('option', {}, one)))
    check.addEventListener('change', () => {
      const { id } = this.#project!
      const change = check.checked ? { 'members+': shown!.id } : { 'members-': shown!.id }
      this.#attempt(() => this.#app.collection('projects').update(id, change as object))
    })
    role.addEventListener('change', () =>
      this.#attempt(() => this.#app.collection('members').update(shown!.id, { role: role.value })),
    )
    return {
      element: create('li', {}, create('label', {}, check, name), role),
      show: ({ member, isIn }) => {
        shown = member
        setText(name, member.name)
        role.value = member.role
        check.checked = isIn
      },
    }
  }
}
