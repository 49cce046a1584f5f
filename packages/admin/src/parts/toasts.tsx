/** Short messages at the edge of the page, which screen readers speak. What can be undone can be undone there. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { ApiError, isAborted } from '../api/request.ts'
import { useEnvironment } from '../environment.ts'
import { isMissingPart } from '../state/on-demand.ts'
import { Store, useStore } from '../state/store.ts'
import { UNDO_MS } from '../state/undo.ts'
import { TEXTS } from '../texts.ts'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly kind: 'done' | 'error'
  readonly text: string
  readonly undo?: (() => Promise<unknown>) | undefined
}

const SHOWN_MS = { done: 6000, error: 12_000 }

const SHOWN_MAX = 4

const toasts = new Store<readonly Toast[]>([])
let lastId = 0

/** `undo` takes back what was done. */
export function showDone(text: string, undo?: () => Promise<unknown>): void {
  show({ id: ++lastId, kind: 'done', text, undo })
}

export function showError(text: string): void {
  show({ id: ++lastId, kind: 'error', text })
}

/** An error of a request, or of this page, in words that help. */
export function reportError(error: unknown): void {
  if (isAborted(error)) return
  showError(errorText(error))
  if (!(error instanceof ApiError)) queueMicrotask(() => globalThis.reportError(error))
}

/** The text of an error: the cause, and the next step. */
export function errorText(error: unknown): string {
  if (isMissingPart(error)) return TEXTS.errors.otherVersion
  if (!(error instanceof ApiError)) return TEXTS.errors.ofPage(String(error))
  if (error.status === 0) return TEXTS.errors.noAnswer
  if (error.status === 429) return TEXTS.errors.tooMany
  if (error.status === 413) return TEXTS.errors.tooLarge
  if (error.status === 507) return TEXTS.errors.noSpace
  const fields = Object.entries(error.fields).map(([name, { message }]) => `${name}: ${message}`)
  const message = error.message === '' ? TEXTS.errors.status(error.status) : error.message
  return [message, ...fields].join('\n')
}

function show(toast: Toast): void {
  toasts.update((list) => [...list.filter(({ text }) => text !== toast.text), toast].slice(-SHOWN_MAX))
}

function hide(id: number): void {
  toasts.update((list) => list.filter((one) => one.id !== id))
}

/** Where they are shown; once in the page. */
export function Toasts(): ReactNode {
  const list = useStore(toasts)
  return (
    <section className="toasts" aria-label={TEXTS.toasts.region}>
      <div role="status" aria-live="polite">
        {list
          .filter(({ kind }) => kind === 'done')
          .map((toast) => (
            <ToastBox key={toast.id} toast={toast} />
          ))}
      </div>
      <div role="alert">
        {list
          .filter(({ kind }) => kind === 'error')
          .map((toast) => (
            <ToastBox key={toast.id} toast={toast} />
          ))}
      </div>
    </section>
  )
}

function ToastBox({ toast }: { readonly toast: Toast }): ReactNode {
  const { id, kind, text, undo } = toast
  const environment = useEnvironment()
  const [isPaused, setPaused] = useState(false)
  useEffect(() => {
    if (isPaused) return undefined
    return environment.after(undo === undefined ? SHOWN_MS[kind] : UNDO_MS, () => hide(id))
  }, [environment, id, kind, undo, isPaused])
  return (
    <div
      className={`toast toast-${kind}`}
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      <Icon name={kind === 'done' ? 'check' : 'error'} />
      <p>{text}</p>
      {undo !== undefined && (
        <button
          type="button"
          className="button button-quiet"
          onClick={() => {
            hide(id)
            undo().catch(reportError)
          }}
        >
          <Icon name="undo" />
          <span className="button-text">{TEXTS.actions.undo}</span>
        </button>
      )}
      <button
        type="button"
        className="button button-quiet button-icon"
        aria-label={TEXTS.actions.close}
        onClick={() => hide(id)}
      >
        <Icon name="close" />
      </button>
    </div>
  )
}
