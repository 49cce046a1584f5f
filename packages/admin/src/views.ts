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
  { name: 'fields', title: TEXTS.views.fields, load: () => import('./views/fields/fields.tsx') },
  { name: 'rules', title: TEXTS.views.rules, load: () => import('./views/rules/rules.tsx') },
  {
    name: 'accounts',
    title: TEXTS.views.accounts,
    isFor: ({ type }) => type === 'auth',
    load: () => import('./views/accounts/accounts.tsx'),
  },
  {
    name: 'indexes',
    title: TEXTS.views.indexes,
    isFor: ({ type }) => type !== 'view',
    load: () => import('./views/indexes/indexes.tsx'),
  },
  { name: 'api', title: TEXTS.views.api, load: () => import('./views/api/api.tsx') },
]

const { serverViews } = TEXTS

/** In the order of the sidebar. */
export const SERVER_VIEWS: readonly ServerView[] = [
  {
    name: 'relations',
    title: TEXTS.views.relations,
    icon: 'relation',
    load: () => import('./views/relations/relations.tsx'),
  },
  { name: 'device', title: serverViews.device, icon: 'device', load: () => import('./views/device/device.tsx') },
  { name: 'schema', title: TEXTS.views.schema, icon: 'json', load: () => import('./views/schema/schema.tsx') },
  { name: 'logs', title: serverViews.logs, icon: 'list', load: () => import('./views/logs/logs.tsx') },
  { name: 'metrics', title: serverViews.metrics, icon: 'chart', load: () => import('./views/metrics/metrics.tsx') },
  { name: 'storage', title: serverViews.storage, icon: 'database', load: () => import('./views/storage/storage.tsx') },
  { name: 'backups', title: serverViews.backups, icon: 'archive', load: () => import('./views/backups/backups.tsx') },
  { name: 'jobs', title: serverViews.jobs, icon: 'date', load: () => import('./views/jobs/jobs.tsx') },
  { name: 'access', title: serverViews.access, icon: 'key', load: () => import('./views/access/access.tsx') },
  { name: 'console', title: serverViews.console, icon: 'console', load: () => import('./views/console/console.tsx') },
  { name: 'couchdb', title: serverViews.couchdb, icon: 'json', load: () => import('./views/couchdb/couchdb.tsx') },
  {
    name: 'settings',
    title: serverViews.settings,
    icon: 'system',
    load: () => import('./views/settings/settings.tsx'),
  },
]
