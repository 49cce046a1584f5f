/** What a view is, and what it gets. */
import { createContext } from 'react'
import type { ComponentType, Context } from 'react'
import type { Collection } from '../api/collections.ts'
import type { IconName } from '../parts/icon.tsx'

export interface CollectionViewProps {
  readonly collection: Collection
  /** What the address has behind the name of the collection. */
  readonly rest: readonly string[]
}

export interface CollectionView {
  readonly name: string
  readonly title: string
  /** Those that have this view; all, when left out. */
  readonly isFor?: (collection: Collection) => boolean
  readonly load: () => Promise<{ readonly View: ComponentType<CollectionViewProps> }>
}

export interface ServerViewProps {
  /** What the address has behind the name of the view. */
  readonly rest: readonly string[]
}

export interface ServerView {
  readonly name: string
  readonly title: string
  readonly icon: IconName
  readonly load: () => Promise<{ readonly View: ComponentType<ServerViewProps> }>
}

/** The views of a collection, for the tabs in its head. A view can't import the list that names it. */
export const CollectionTabs: Context<readonly CollectionView[]> = createContext<readonly CollectionView[]>([])
