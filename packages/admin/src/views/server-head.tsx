/** The head of every view of the server: its title, the tabs of its parts, and what it can do. */
import type { ReactNode } from 'react'
import { linkTo } from '../state/route.ts'

interface Tab {
  readonly title: string
  readonly path: readonly string[]
  readonly isCurrent: boolean
}

interface ServerHeadProps {
  readonly title: string
  readonly count?: string
  readonly tabs?: readonly Tab[]
  readonly children?: ReactNode
}

export function ServerHead({ title, count = '', tabs = [], children }: ServerHeadProps): ReactNode {
  return (
    <header className="view-head">
      <h1>{title}</h1>
      <span className="view-count" role="status">
        {count}
      </span>
      {tabs.length > 0 && (
        <nav className="tabs" aria-label={title}>
          {tabs.map((tab) => (
            <a
              key={tab.title}
              ref={tab.isCurrent ? bringIntoView : undefined}
              href={linkTo(tab.path)}
              aria-current={tab.isCurrent ? 'page' : undefined}
            >
              {tab.title}
            </a>
          ))}
        </nav>
      )}
      <div className="view-actions">{children}</div>
    </header>
  )
}

/** On a narrow screen tabs are wider than it is. */
export function bringIntoView(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'center' })
}
