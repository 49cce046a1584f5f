/** The records of a collection: a live table with a filter. The address has the filter, the order and the open record. */
import { lazy, Suspense, useEffect, useMemo, useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { Failed, Notice } from '../../parts/loading.tsx'
import { useEnvironment } from '../../environment.ts'
import { onDemand } from '../../state/on-demand.ts'
import { changeQuery, useRoute } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'

import { CollectionHead } from '../collection-head.tsx'
import { kindOf } from '../kinds.ts'
import type { CollectionViewProps } from '../view.ts'
import { shownFields } from '../field-types.ts'
import { useRecordTable } from './columns.ts'
import { FilterBar, wholeFilter } from './filter-bar.tsx'
import { RecordPages } from './record-pages.ts'
import type { ListState } from './record-pages.ts'
import { RecordTableView } from './record-table.tsx'
import { useSelection } from './selection.ts'
import { ImportButton, SelectionBar, Toolbar } from './toolbar.tsx'

const EXCERPT = 160
/** The address of the form of a new record. */
const NEW = 'new'
const RecordForm = lazy(async () => ({ default: (await onDemand(() => import('./form/record-form.tsx'))).RecordForm }))

export function View({ collection }: CollectionViewProps): ReactNode {
  const { query } = useRoute()
  const { filter = '', sort = defaultSort(collection), record = '', copyOf = '', search = '' } = query
  const whole = wholeFilter(search, filter)
  const [pages, list] = useRecordPages(collection, whole, sort)
  const table = useRecordTable(collection)
  const selection = useSelection()
  return (
    <>
      <CollectionHead collection={collection} count={list.total}>
        <Toolbar
          collection={collection}
          table={table}
          filter={whole}
          sort={sort}
          count={list.total}
          onNew={() => changeQuery({ record: NEW })}
        />
      </CollectionHead>
      <FilterBar
        collection={collection}
        search={search}
        filter={filter}
        error={list.error}
        onFilter={(next) => changeQuery({ filter: next })}
        onSearch={(next) => changeQuery({ search: next })}
      />
      <div className="records">
        {list.total === undefined && list.error !== undefined && whole === '' ? (
          <Failed error={list.error} onRetry={() => pages.reload()} />
        ) : list.total === 0 ? (
          <Nothing isFiltered={whole !== ''} collection={collection} />
        ) : (
          <RecordTableView
            collection={collection}
            table={table}
            pages={pages}
            list={list}
            sort={sort}
            onSort={(next) => changeQuery({ sort: next })}
            onOpen={({ id }) => changeQuery({ record: id })}
            selection={selection}
          />
        )}
      </div>
      <SelectionBar collection={collection} selection={selection} />
      {record !== '' && (
        <Suspense>
          <RecordForm
            key={`${record} ${copyOf}`}
            collection={collection}
            id={record}
            copyOf={copyOf === '' ? undefined : copyOf}
            onClose={() => changeQuery({ record: undefined, copyOf: undefined })}
            onDuplicate={(id) => changeQuery({ record: NEW, copyOf: id }, { replaces: true })}
          />
        </Suspense>
      )}
    </>
  )
}

interface NothingProps extends Pick<CollectionViewProps, 'collection'> {
  readonly isFiltered: boolean
}

function Nothing({ isFiltered, collection }: NothingProps): ReactNode {
  const { none, noneText, noMatch, noMatchText } = TEXTS.records
  return isFiltered ? (
    <Notice icon="filter" title={noMatch} text={noMatchText} />
  ) : (
    <Notice icon="collection" title={none} text={noneText}>
      {collection.type !== 'view' && <ImportButton collection={collection} />}
    </Notice>
  )
}

/** The default order: the newest first. Views have no order of their own. */
function defaultSort({ type }: Collection): string {
  return type === 'view' ? '' : '-@rowid'
}

function useRecordPages(collection: Collection, filter: string, sort: string): [RecordPages, ListState] {
  const environment = useEnvironment()
  const pages = useMemo(() => {
    const fields = shownFields(collection)
    const relations = fields.filter((field) => kindOf(field).holds === 'records').map(({ name }) => name)
    const excerpts = fields
      .filter((field) => kindOf(field).isLong)
      .map(({ name }) => `${name}:excerpt(${EXCERPT},true)`)
    return new RecordPages(environment, collection, {
      filter,
      sort,
      expand: relations.join(','),
      fields: ['*', ...excerpts].join(','),
    })
  }, [environment, collection, filter, sort])
  useEffect(() => pages.start(), [pages])
  return [pages, useSyncExternalStore(pages.follow, pages.get)]
}
