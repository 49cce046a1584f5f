/** Signs in place of content that is still loading, has failed, or is empty. */
import type { ReactNode } from 'react'
import { isMissingPart } from '../state/on-demand.ts'
import { TEXTS } from '../texts.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'
import { errorText } from './toasts.tsx'

export function Loading(): ReactNode {
  return (
    <div className="notice" role="status">
      <span className="spinner" aria-hidden="true" />
      <span className="hidden-text">{TEXTS.loading}</span>
    </div>
  )
}

export function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => unknown }): ReactNode {
  // The browser keeps the failure of a part as long as the page.
  const isOld = isMissingPart(error)
  return (
    <Notice icon="error" title={TEXTS.errors.title} text={errorText(error)}>
      <Button icon="refresh" onPress={isOld ? () => location.reload() : onRetry}>
        {isOld ? TEXTS.actions.reload : TEXTS.actions.retry}
      </Button>
    </Notice>
  )
}

interface NoticeProps {
  readonly icon: IconName
  readonly title: string
  readonly text?: string
  readonly children?: ReactNode
}

export function Notice({ icon, title, text, children }: NoticeProps): ReactNode {
  return (
    <div className="notice">
      <span className="notice-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {children !== undefined && <div className="notice-actions">{children}</div>}
    </div>
  )
}
