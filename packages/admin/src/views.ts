/**
 * The views of the page, each loaded when it is first shown. A view is a file that exports `View`; its address is `#/NAME/…`.
 *
 * - of a collection: a tab beside its records, at `#/NAME/COLLECTION`;
 * - of the server: an entry in the sidebar.
 */
import { TEXTS } from './texts.ts'
import type { CollectionView, ServerView } from './views/view.ts'

/** In the order of the tabs. The first one opens with a collection. */
export const COLLECTION_VIEWS: readonly CollectionView[] = [
  { name: 'records', title: TEXTS.records.title, load: () => import('./views/records/records.tsx') },
]

/** In the order of the sidebar. */
export const SERVER_VIEWS: readonly ServerView[] = []
