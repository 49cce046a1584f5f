/** The card and the top line with the state of sync, and the switch that goes offline. */
import { COLLECTION } from '../shared/city.ts'
import { formatCount } from '../shared/format.ts'
import { COPY, LOCKED, SERVER_URL } from './copy.ts'
import { byId, create, setText } from '../../tools/web/dom.ts'
import type { SyncState } from './sync.ts'

export interface SyncCardEvents {
  onOffline(offline: boolean): void
  onTryAgain(): void
}

/** The colour of the dot; the words say the same. */
type Tone = 'good' | 'busy' | 'off' | 'bad'

interface Words {
  readonly tone: Tone
  readonly status: string
  /** The meaning of the state, or the visitor's next step. */
  readonly detail: string
}

const OTHER_COPY = COPY === 1 ? 2 : 1
const COUNTDOWN_MS = 250

export class SyncCard {
  #state: SyncState | undefined
  #offline = false
  #countdown: ReturnType<typeof setInterval> | undefined

  constructor({ onOffline, onTryAgain }: SyncCardEvents) {
    const offline = byId<HTMLInputElement>('go-offline')
    offline.addEventListener('change', () => onOffline(offline.checked))
    byId('sync-again').addEventListener('click', onTryAgain)
    const other = byId<HTMLAnchorElement>('other-copy')
    other.href = OTHER_COPY === 1 ? '?' : `?copy=${OTHER_COPY}`
    other.textContent = `copy ${OTHER_COPY}`
    byId<HTMLAnchorElement>('locked-copy').href = `?copy=${COPY}&locked`
    byId('locked-try').hidden = LOCKED
    byId<HTMLAnchorElement>('sync-server').href = SERVER_URL
    byId('sync-server').textContent = `${new URL(SERVER_URL).host}/${COLLECTION}`
    for (const event of ['online', 'offline']) addEventListener(event, () => this.#render())
  }

  show(state: SyncState, offline: boolean): void {
    this.#state = state
    this.#offline = offline
    clearInterval(this.#countdown)
    if (state.retryAtMs !== undefined) this.#countdown = setInterval(() => this.#render(), COUNTDOWN_MS)
    this.#render()
  }

  #render(): void {
    if (this.#state === undefined) return
    const { unsent, sent, received, phase } = this.#state
    const { tone, status, detail } = wordsFor(this.#state, this.#offline)
    byId<HTMLInputElement>('go-offline').checked = this.#offline
    for (const id of ['sync-line', 'sync-status']) {
      byId(id).dataset['tone'] = tone
      setText(byId(id), status)
    }
    setText(byId('sync-detail'), detail)
    byId('sync-again').hidden = phase !== 'stopped'
    const facts: [string, string][] = [
      ['Changes not sent', formatCount(unsent)],
      ['Sent, received', `${formatCount(sent)}, ${formatCount(received)}`],
      ['This browser', navigator.onLine ? 'online' : 'without a network'],
    ]
    const text = facts.flat().join()
    const list = byId('sync-facts')
    if (list.dataset['shown'] === text) return
    list.dataset['shown'] = text
    list.replaceChildren(...facts.flatMap(([term, fact]) => [create('dt', {}, term), create('dd', {}, fact)]))
  }
}

function wordsFor({ phase, unsent, retryAtMs, reason }: SyncState, offline: boolean): Words {
  const waiting = unsent === 0 ? '' : `${formatCount(unsent)} ${unsent === 1 ? 'change' : 'changes'} to send`
  const dotted = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' · ')
  if (phase === 'stopped') return { tone: 'bad', status: dotted('Sync has stopped', waiting), detail: reason }
  if (offline) {
    return { tone: 'off', status: dotted('Offline', waiting), detail: 'You have switched sync off for this copy.' }
  }
  switch (phase) {
    case 'no-network':
      return {
        tone: 'off',
        status: dotted('Offline', waiting),
        detail: 'This browser has no network; sync goes on when it is back.',
      }
    case 'retrying': {
      const seconds = Math.ceil(((retryAtMs ?? 0) - Date.now()) / 1000)
      const when = seconds > 0 ? `Trying again in ${seconds} s` : 'Trying again'
      return { tone: 'bad', status: dotted(when, waiting), detail: 'The server does not answer. Is npm start running?' }
    }
    case 'in-sync':
      return { tone: 'good', status: 'In sync', detail: 'This copy and the server have the same.' }
    case 'syncing':
      return { tone: 'busy', status: dotted('Syncing', waiting), detail: 'Changes are on their way.' }
    default:
      return { tone: 'busy', status: 'Connecting', detail: 'Asking the server what is new.' }
  }
}
