/** The contract of a view, and its properties. */
import { createContext } from 'react'
import type { ComponentType, Context } from 'react'
import type { Collection } from '../api/collections.ts'
import type { IconName } from '../parts/icon.tsx'

export interface CollectionViewProps {
  readonly collection: Collection
  /** The rest of the address behind the name of the collection. */
  readonly rest: readonly string[]
}

export interface CollectionView {
  readonly name: string
  readonly title: string
  /** Whether a collection has this view; all have it when left out. */
  readonly isFor?: (collection: Collection) => boolean
  readonly load: () => Promise<{ readonly View: ComponentType<CollectionViewProps> }>
}

export interface ServerViewProps {
  /** The rest of the address behind the name of the view. */
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
