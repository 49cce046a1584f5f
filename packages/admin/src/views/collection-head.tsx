/** The head of every view of a collection: its name, how many records it has, and the tabs of its views. */
import { useContext } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../api/collections.ts'
import { linkTo, useRoute } from '../state/route.ts'
import { TEXTS } from '../texts.ts'
import { bringIntoView } from './server-head.tsx'
import { CollectionTabs } from './view.ts'

interface CollectionHeadProps {
  readonly collection: Collection
  /** Undefined: not known yet, or not shown. */
  readonly count?: number | undefined
  /** Actions of the view, at the end of the line. */
  readonly children?: ReactNode
}

export function CollectionHead({ collection, count, children }: CollectionHeadProps): ReactNode {
  const { path } = useRoute()
  const tabs = useContext(CollectionTabs).filter(({ isFor }) => isFor === undefined || isFor(collection))
  return (
    <header className="view-head">
      <h1>{collection.name}</h1>
      <span className="view-count" role="status">
        {count === undefined ? '' : TEXTS.records.count(count)}
      </span>
      {tabs.length > 1 && (
        <nav className="tabs" aria-label={TEXTS.shell.views}>
          {tabs.map(({ name, title }) => (
            <a
              key={name}
              ref={path[0] === name ? bringIntoView : undefined}
              href={linkTo([name, collection.name])}
              aria-current={path[0] === name ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
      <div className="view-actions">{children}</div>
    </header>
  )
}
