/** The view of storage: sizes and counts of collections and databases, and actions that keep them sound and small. */
import type { ReactNode } from 'react'
import { compactDatabase, listDatabases, listTasks } from '../../api/couchdb.ts'
import type { DatabaseInfo } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { bytesText, numberText, storedText } from '../../parts/figures.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { findCollection, useCollections } from '../../state/collections.ts'
import { linkTo } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import { Check } from './check.tsx'
import sheet from './storage.css'

const { storage: texts } = OPERATIONS
const EVERY_MS = 3000
const COMPACTION = 'database_compaction'

interface Stored extends DatabaseInfo {
  readonly isCompacting: boolean
}

export function View(): ReactNode {
  const { value, error, reload } = useLoaded('storage', loadStored, EVERY_MS)
  const { list } = useCollections()
  const bytes = value?.reduce((sum, { sizes }) => sum + sizes.file, 0) ?? 0
  const compact = async ({ db_name: name }: Stored): Promise<void> => {
    await compactDatabase(name)
    showDone(texts.compacting(name))
    await reload()
  }
  const isCollection = (name: string): boolean => findCollection(list, name) !== undefined
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={TEXTS.serverViews.storage} count={value === undefined ? '' : texts.all(bytesText(bytes))} />
      <div className="view-body">
        <Check />
        <section className="view-part" aria-labelledby="stored">
          <h2 id="stored">{texts.stored}</h2>
          <p className="muted">{texts.storedText}</p>
          {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
          {value !== undefined && (
            <DataTable
              label={TEXTS.serverViews.storage}
              columns={columnsOf({ bytes, compact, isCollection })}
              rows={value}
              keyOf={({ db_name }) => db_name}
            />
          )}
        </section>
      </div>
    </>
  )
}

/** The largest one first. */
async function loadStored(signal: AbortSignal): Promise<readonly Stored[]> {
  const [databases, tasks] = await Promise.all([listDatabases(signal), listTasks(signal)])
  const compacting = new Set(tasks.filter(({ type }) => type === COMPACTION).map(({ database }) => database))
  return databases
    .map((one) => ({ ...one, isCompacting: compacting.has(one.db_name) || one.compact_running }))
    .sort((one, other) => other.sizes.file - one.sizes.file || (one.db_name < other.db_name ? -1 : 1))
}

interface ColumnParts {
  /** The bytes of all. */
  readonly bytes: number
  readonly compact: (stored: Stored) => Promise<void>
  readonly isCollection: (name: string) => boolean
}

function columnsOf({ bytes, compact, isCollection }: ColumnParts): readonly DataColumn<Stored>[] {
  return [
    {
      name: 'name',
      title: texts.name,
      cell: ({ db_name: name }) => (
        <>
          <Icon name={isCollection(name) ? 'collection' : 'database'} />{' '}
          <a href={isCollection(name) ? linkTo(['records', name]) : linkTo(['couchdb', 'databases', name])}>{name}</a>
        </>
      ),
    },
    {
      name: 'size',
      title: texts.size,
      isNumber: true,
      cell: ({ sizes: { file }, doc_count: count }) => (
        <>
          {storedText(file, count)}
          <span className="share" aria-hidden="true">
            <span style={{ width: `${bytes === 0 ? 0 : (file / bytes) * 100}%` }} />
          </span>
        </>
      ),
    },
    { name: 'count', title: texts.documents, isNumber: true, cell: ({ doc_count: count }) => numberText(count) },
    { name: 'deleted', title: texts.deleted, isNumber: true, cell: ({ doc_del_count: count }) => numberText(count) },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (stored) =>
        stored.isCompacting ? (
          <span role="status">
            <span className="spinner" aria-hidden="true" /> {texts.isCompacting}
          </span>
        ) : (
          <Button label={texts.compactOf(stored.db_name)} onPress={() => compact(stored)}>
            {texts.compact}
          </Button>
        ),
    },
  ]
}
