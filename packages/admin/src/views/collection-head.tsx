/** The head of every view of a collection: its name, how many records it has, and the tabs of its views. */
import type { ReactNode } from 'react'
import type { Collection } from '../api/collections.ts'
import { linkTo, useRoute } from '../state/route.ts'
import { TEXTS } from '../texts.ts'
import { COLLECTION_VIEWS } from '../views.ts'

interface CollectionHeadProps {
  readonly collection: Collection
  /** Undefined: not known yet, or not shown. */
  readonly count?: number | undefined
  /** What the view can do, at the end of the line. */
  readonly children?: ReactNode
}

export function CollectionHead({ collection, count, children }: CollectionHeadProps): ReactNode {
  const { path } = useRoute()
  return (
    <header className="view-head">
      <h1>{collection.name}</h1>
      <span className="view-count" role="status">
        {count === undefined ? '' : TEXTS.records.count(count)}
      </span>
      {COLLECTION_VIEWS.length > 1 && (
        <nav className="tabs" aria-label={TEXTS.shell.views}>
          {COLLECTION_VIEWS.map(({ name, title }) => (
            <a key={name} href={linkTo([name, collection.name])} aria-current={path[0] === name ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      )}
      <div className="view-actions">{children}</div>
    </header>
  )
}
