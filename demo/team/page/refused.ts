/** Writes that the server refused: they wait until the person decides. */
import type { RejectedWrite } from '@pannier/client'
import { byId, create } from '../../../tools/web/dom.ts'

/** The meaning of each code of a refusal here. */
const REASONS: Readonly<Record<string, string>> = {
  CONFLICT: 'Somebody else has changed it meanwhile.',
  DEPENDS: 'It builds on another change that was refused.',
  FORBIDDEN: 'You may not do that any more.',
  NOT_FOUND: 'It is gone, or not yours any more.',
}

interface Shows {
  readonly attempt: (write: () => PromiseLike<unknown>) => void
  /** The name of a project. */
  readonly projectOf: (id: unknown) => string
}

export function showRefused(refused: readonly RejectedWrite[], { attempt, projectOf }: Shows): void {
  byId('refused').hidden = refused.length === 0
  byId('refused-list').replaceChildren(
    ...refused.map((one) => {
      const retry = create('button', { type: 'button' }, 'Send mine again')
      const discard = create('button', { type: 'button', class: 'quiet' }, 'Discard mine')
      retry.addEventListener('click', () => attempt(() => one.retry()))
      discard.addEventListener('click', () => attempt(() => one.discard()))
      return create(
        'li',
        {},
        create('p', {}, reasonOf(one)),
        create('p', { class: 'note' }, placeOf(one, projectOf)),
        create('dl', {}, ...versions(one)),
        create('p', { class: 'actions' }, retry, discard),
      )
    }),
  )
}

/** The task, and its project. */
function placeOf({ writes, at, theirs }: RejectedWrite, projectOf: Shows['projectOf']): string {
  const { mine, base } = writes[at]!
  const known: Readonly<Record<string, unknown>> = { ...mine, ...theirs, ...base }
  const project = projectOf(known['project'])
  return `“${String(known['title'])}”${project === '' ? '' : ` in ${project}`}`
}

function reasonOf({ code, message, data }: RejectedWrite): string {
  const fields = Object.entries(data) as [string, { readonly message?: string }][]
  // A create rule that does not hold names no field.
  if (code === 'INVALID' && fields.length === 0) return REASONS['FORBIDDEN']!
  return REASONS[code] ?? [message, ...fields.map(([name, field]) => `${name}: ${field.message ?? ''}`)].join(' ')
}

function versions({ writes, at, theirs }: RejectedWrite): HTMLElement[] {
  const { action, mine, base } = writes[at]!
  if (action === 'create') return version('Mine', `title: ${String(mine['title'])}`)
  return [
    ...version('Mine', action === 'delete' ? 'Delete it' : textOf(mine)),
    ...version('Was', base === null ? 'nothing' : textOf(only(base, mine))),
    ...version('Server', theirs === null ? 'nothing that you may see' : textOf(only(theirs, mine))),
  ]
}

function version(name: string, text: string): HTMLElement[] {
  return [create('dt', {}, name), create('dd', {}, text)]
}

function only(record: Readonly<Record<string, unknown>>, mine: object): Readonly<Record<string, unknown>> {
  const names = Object.keys(mine).filter((name) => name in record)
  return names.length === 0 ? { title: record['title'] } : Object.fromEntries(names.map((name) => [name, record[name]]))
}

function textOf(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ')
}
