/** The page is in one of three stages: loading, a notice with something to decide, or the explorer. */
import { formatBytes, formatCount, formatDuration } from '../shared/format.ts'
import type { LoadProgress } from '../shared/load.ts'
import type { DownloadProgress } from './download.ts'
import { byId, create } from './dom.ts'

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

/** The three bars of a load. */
export class LoadingStage {
  #indexStarted = 0

  show(onCancel: () => void): void {
    this.#indexStarted = 0
    for (const step of ['download', 'insert', 'index']) setStep(step, 0, '')
    byId('loading-title').textContent = 'Loading the cities'
    const cancel = byId<HTMLButtonElement>('cancel-load')
    cancel.disabled = false
    cancel.onclick = () => {
      cancel.disabled = true
      onCancel()
    }
    showStage('loading')
  }

  wait(): void {
    byId('loading-title').textContent = 'Another tab is loading the cities; this one opens after it'
  }

  download({ documents, bytes, durationMs }: DownloadProgress, total: number): void {
    setStep('download', documents / total, `${formatBytes(bytes)} of JSON, ${formatDuration(durationMs)}`)
  }

  load({ phase, done, total }: LoadProgress): void {
    const now = performance.now()
    if (phase === 'insert') {
      setStep('insert', done / total, `${formatCount(done)} of ${formatCount(total)}`)
    } else {
      this.#indexStarted ||= now
      setStep('index', done / total, formatDuration(now - this.#indexStarted))
    }
  }
}

function setStep(name: string, part: number, text: string): void {
  const step = byId(`step-${name}`)
  const bar = step.querySelector('progress')
  const value = step.querySelector('.step-value')
  if (bar !== null) bar.value = Number.isFinite(part) ? part : 0
  if (value !== null) value.textContent = text
}
