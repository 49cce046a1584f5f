/**
 * The views of the page, each loaded when it is first shown. A view is a file that exports `View`; its address is `#/NAME/…`.
 *
 * - of a collection: a tab beside its records, at `#/NAME/COLLECTION`;
 * - of the server: an entry in the sidebar.
 */
import type { ComponentType } from 'react'
import type { Collection } from './api/collections.ts'
import type { IconName } from './parts/icon.tsx'
import { TEXTS } from './texts.ts'

export interface CollectionViewProps {
  readonly collection: Collection
  /** What the address has behind the name of the collection. */
  readonly rest: readonly string[]
}

interface CollectionView {
  readonly name: string
  readonly title: string
  readonly load: () => Promise<{ readonly View: ComponentType<CollectionViewProps> }>
}

export interface ServerViewProps {
  /** What the address has behind the name of the view. */
  readonly rest: readonly string[]
}

interface ServerView {
  readonly name: string
  readonly title: string
  readonly icon: IconName
  readonly load: () => Promise<{ readonly View: ComponentType<ServerViewProps> }>
}

/** In the order of the tabs. The first one opens with a collection. */
export const COLLECTION_VIEWS: readonly CollectionView[] = [
  { name: 'records', title: TEXTS.records.title, load: () => import('./views/records/records.tsx') },
]

/** In the order of the sidebar. */
export const SERVER_VIEWS: readonly ServerView[] = []
