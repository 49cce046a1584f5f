/** The three stages of the page: loading, a notice with a decision, the explorer. */
import type { ReplicationProgress } from 'pannier'
import { formatCount, formatDuration } from '../shared/format.ts'
import { byId, create } from '../../tools/web/dom.ts'

export type Stage = 'loading' | 'notice' | 'explorer'

export interface Notice {
  readonly title: string
  readonly text: string
  readonly detail?: string
}

export interface Action {
  readonly label: string
  readonly kind?: 'primary' | 'danger'
  run(): void
}

export function showStage(stage: Stage): void {
  for (const each of ['loading', 'notice', 'explorer'] as const) byId(each).hidden = each !== stage
}

export function showNotice(message: Notice, actions: readonly Action[]): void {
  byId('notice-title').textContent = message.title
  byId('notice-text').textContent = message.text
  byId('notice-detail').textContent = message.detail ?? ''
  byId('notice-actions').replaceChildren(
    ...actions.map(({ label, kind, run }) => {
      const button = create('button', { type: 'button', class: kind ?? '' }, label)
      button.addEventListener('click', run)
      return button
    }),
  )
  showStage('notice')
  byId('notice-title').focus()
}

/** The two bars of a copy that is being made. */
export class LoadingStage {
  #indexStarted = 0

  show(onCancel: () => void): void {
    this.#indexStarted = 0
    setStep('copy', 0, 'asking the server')
    setStep('index', 0, '')
    byId('loading-title').textContent = 'Copying the cities'
    const cancel = byId<HTMLButtonElement>('cancel-load')
    cancel.disabled = false
    cancel.onclick = () => {
      cancel.disabled = true
      onCancel()
    }
    showStage('loading')
  }

  wait(): void {
    byId('loading-title').textContent = 'Another tab is copying the cities; this one opens after it'
  }

  copy(documents: number, { changesChecked, pending = 0 }: ReplicationProgress): void {
    setStep('copy', changesChecked / (changesChecked + pending), `${formatCount(documents)} cities`)
  }

  index(done: number): void {
    const now = performance.now()
    this.#indexStarted ||= now
    setStep('index', done, formatDuration(now - this.#indexStarted))
  }
}

function setStep(name: string, part: number, text: string): void {
  const step = byId(`step-${name}`)
  const bar = step.querySelector('progress')
  const value = step.querySelector('.step-value')
  if (bar !== null) bar.value = Number.isFinite(part) ? part : 0
  if (value !== null) value.textContent = text
}
